// A C function that holds the original method and the borders, bound as methods are.
#include "python/phantom/bordered_call.h"

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>

namespace py = pybind11;

namespace tidemark::phantom {
namespace {

// What the C function gets as its own object; it holds the function's definition too.
struct Bordered {
  py::object original;
  std::unique_ptr<CallBorders> borders;
  std::string name;
  std::optional<std::string> doc;
  PyMethodDef definition{};
};

constexpr const char* kKind = "tidemark.bordered_method";

void destroy(PyObject* capsule) {
  delete static_cast<Bordered*>(PyCapsule_GetPointer(capsule, kKind));
}

// Runs a border; false with Python's error set when it threw.
template <class Border>
bool run(Border&& border) {
  try {
    border();
    return true;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return false;
}

PyObject* call(PyObject* capsule, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const auto& bordered = *static_cast<Bordered*>(PyCapsule_GetPointer(capsule, kKind));
  const auto all = static_cast<std::size_t>(count + (keywords ? PyTuple_GET_SIZE(keywords) : 0));
  PyObject* self = count > 0 ? args[0] : nullptr;
  bool is_told = false;
  if (self && !run([&] { is_told = bordered.borders->before(self, {args + 1, all - 1}); }))
    return nullptr;
  PyObject* result =
      PyObject_Vectorcall(bordered.original.ptr(), args, static_cast<std::size_t>(count), keywords);
  if (is_told && !run([&] { bordered.borders->after(self); })) Py_CLEAR(result);
  return result;
}

}  // namespace

py::object bordered_method(py::handle original, std::unique_ptr<CallBorders> borders) {
  auto bordered = std::make_unique<Bordered>(
      Bordered{py::reinterpret_borrow<py::object>(original),
               std::move(borders),
               py::cast<std::string>(original.attr("__name__")),
               py::cast<std::optional<std::string>>(original.attr("__doc__")),
               {}});
  bordered->definition = {
      bordered->name.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call)),
      METH_FASTCALL | METH_KEYWORDS, bordered->doc ? bordered->doc->c_str() : nullptr};
  PyMethodDef* const definition = &bordered->definition;
  const auto capsule =
      py::reinterpret_steal<py::object>(PyCapsule_New(bordered.get(), kKind, &destroy));
  if (!capsule) throw py::error_already_set();
  bordered.release();
  const auto function =
      py::reinterpret_steal<py::object>(PyCFunction_New(definition, capsule.ptr()));
  if (!function) throw py::error_already_set();
  // C functions do not bind to the object they are asked of; this wrapper does.
  const auto method = py::reinterpret_steal<py::object>(PyInstanceMethod_New(function.ptr()));
  if (!method) throw py::error_already_set();
  return method;
}

}  // namespace tidemark::phantom
