// Builtin functions that Python calls without a frame.
#include "python/record/hooks.h"

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include <exception>

#include "python/record/tensors.h"
#include "tidemark/libtorch/recorder/gradients.h"

namespace py = pybind11;

namespace tidemark::recorder {
namespace {

// Nobody is inside a compiled region before the compiler has been loaded.
bool is_compiled() {
  static PyObject* variables = nullptr;
  if (!variables) {
    static PyObject* const name = PyUnicode_InternFromString("torch._dynamo.eval_frame");
    PyObject* const module = PyDict_GetItem(PyImport_GetModuleDict(), name);
    if (!module) return false;
    variables = PyModule_GetDict(module);
    Py_INCREF(variables);
  }
  static PyObject* const name = PyUnicode_InternFromString("_in_optimized_module");
  PyObject* const inside = PyDict_GetItem(variables, name);
  if (inside) return inside == Py_True;
  const auto frames = py::module_::import("torch._dynamo.eval_frame");
  return frames.attr("_is_in_optimized_module")().cast<bool>();
}

// Whoever handles it keeps it alive for as long as the call that asks.
const PyObject* handled_exception() {
  PyObject* const handled = PyErr_GetHandledException();
  Py_XDECREF(handled);
  return handled;
}

}  // namespace

void ModuleCalls::start(py::object prepare, py::object give_up) {
  prepare_ = std::move(prepare);
  give_up_ = std::move(give_up);
  for (auto& [_, module] : modules_) {
    module.is_ready = false;
    module.open = 0;
  }
}

void ModuleCalls::stop() {
  prepare_ = {};
  give_up_ = {};
}

ModuleCalls::Module* ModuleCalls::find(PyObject* module) {
  const auto found = modules_.find(module);
  return found == modules_.end() ? nullptr : &found->second;
}

void ModuleCalls::remember(py::handle module, ModuleNumber number) {
  Module& known = modules_[module.ptr()];
  known.number = number;
  known.is_ready = true;
}

void ModuleCalls::remember_compiled(py::handle module, ModuleNumber number) {
  remember(module, number);
  modules_[module.ptr()].is_compiled = true;
}

// Inside of compiled regions modules are not called as they are written.
bool ModuleCalls::is_heard(PyObject* module, const Module* known) const {
  if (!is_compiled()) return true;
  if (!hears_compiled_) return false;
  return known ? known->is_compiled : PyObject_HasAttrString(module, "_orig_mod") == 1;
}

void ModuleCalls::ignore(py::handle module) {
  Module& known = modules_[module.ptr()];
  known.is_ready = known.is_ignored = true;
}

void ModuleCalls::forget(std::uintptr_t module) {
  modules_.erase(reinterpret_cast<PyObject*>(module));
}

void ModuleCalls::prepare_again() {
  for (auto& [_, module] : modules_) module.is_ready = false;
}

bool ModuleCalls::is_open(py::handle module) const {
  const auto found = modules_.find(module.ptr());
  return found != modules_.end() && found->second.open > 0;
}

void ModuleCalls::close_lost() {
  for (auto& [_, module] : modules_)
    if (!tracker_->is_active(module.number)) module.open = 0;
}

void ModuleCalls::begin(PyObject* module, PyObject* inputs) {
  if (!prepare_ || !tracker_->is_running()) return;
  Module* known = find(module);
  if (!is_heard(module, known)) return;
  if (!known || !known->is_ready || known->open > 0 || is_wary_) {
    const py::object prepare = prepare_;
    prepare(py::handle(module));
    known = find(module);
  }
  if (!known || known->is_ignored) return;
  ++known->open;
  known->raised_before = handled_exception();
  tracker_->begin_forward(known->number, tensors_in(inputs, Wrappers::OpenAndKeep));
}

void ModuleCalls::end(PyObject* module, PyObject* outputs) {
  if (!prepare_ || !tracker_->is_running()) return;
  Module* const known = find(module);
  if (!known || known->is_ignored || !is_heard(module, known)) return;
  const PyObject* const raised = handled_exception();
  const bool failed = outputs == Py_None && raised && raised != known->raised_before;
  known->raised_before = nullptr;
  if (known->open > 0) --known->open;
  tracker_->end_forward(known->number, tensors_in(outputs, Wrappers::OpenAndKeep), failed);
}

void ModuleCalls::give_up(py::handle problem) {
  const py::object give_up = give_up_;
  if (give_up) give_up(problem);
}

namespace {

// A bug of ours must not end the user's program; what is no Exception (an interrupt) is not ours.
template <class Work>
PyObject* run(ModuleCalls& calls, const Work& work) {
  try {
    try {
      work();
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_Exception)) throw;
      calls.give_up(error.value());
    } catch (const std::exception& error) {
      calls.give_up(py::reinterpret_steal<py::object>(
          PyObject_CallFunction(PyExc_RuntimeError, "s", error.what())));
    }
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  }
  Py_RETURN_NONE;
}

template <class T>
T& held(PyObject* capsule) {
  return **static_cast<std::shared_ptr<T>*>(PyCapsule_GetPointer(capsule, nullptr));
}

using Arguments = PyObject* const*;

PyObject* before_forward(PyObject* self, Arguments arguments, Py_ssize_t count) {
  auto& calls = held<ModuleCalls>(self);
  return run(calls, [&] {
    if (count > 1) calls.begin(arguments[0], arguments[1]);
  });
}

PyObject* after_forward(PyObject* self, Arguments arguments, Py_ssize_t count) {
  auto& calls = held<ModuleCalls>(self);
  return run(calls, [&] {
    if (count > 2) calls.end(arguments[0], arguments[2]);
  });
}

void label_gradient(Tracker& tracker, PyObject* gradient, Category category) {
  if (THPVariable_CheckExact(gradient)) tracker.label(THPVariable_Unpack(gradient), category);
  else tracker.label(tensors_in(gradient), category);
}

// Inside the program's backward: an error of ours ends the tracking, not that. False with Python's
// error set where it is none of ours.
bool try_to_label_gradient(Tracker& tracker, PyObject* gradient, Category category) {
  try {
    label_gradient(tracker, gradient, category);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) {
      error.restore();
      return false;
    }
    tracker.give_up(error.what());
  } catch (const std::exception& error) {
    tracker.give_up(error.what());
  }
  return true;
}

PyObject* on_gradient(PyObject* self, Arguments arguments, Py_ssize_t count) {
  auto& tracker = held<Tracker>(self);
  const bool is_meant = count > 0 && arguments[0] != Py_None && tracker.is_running();
  if (is_meant && !try_to_label_gradient(tracker, arguments[0], Category::Gradient)) return nullptr;
  Py_RETURN_NONE;
}

void label_wrapped(Tracker& tracker, const at::Tensor& gradient, Category category) {
  const py::gil_scoped_acquire acquire;
  const auto wrapped = py::reinterpret_steal<py::object>(THPVariable_Wrap(gradient));
  if (try_to_label_gradient(tracker, wrapped.ptr(), category)) return;
  python_error error;  // goes to the autograd engine, as that of any hook
  error.persist();
  throw error;
}

using Fast = PyObject* (*)(PyObject*, Arguments, Py_ssize_t);
template <Fast kFunction>
PyMethodDef g_definition{"tidemark_hook",
                         reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(kFunction)),
                         METH_FASTCALL, nullptr};

// A callable that keeps its owner alive.
template <Fast kFunction, class T>
py::object callable(std::shared_ptr<T> owner) {
  const py::capsule self(new std::shared_ptr<T>(std::move(owner)),
                         [](void* held) { delete static_cast<std::shared_ptr<T>*>(held); });
  return py::reinterpret_steal<py::object>(
      PyCFunction_NewEx(&g_definition<kFunction>, self.ptr(), nullptr));
}

}  // namespace

void bind_hooks(py::module_& m) {
  using Held = std::shared_ptr<ModuleCalls>;
  py::class_<ModuleCalls, Held>(m, "ModuleCalls")
      .def(py::init<std::shared_ptr<Tracker>, bool>())
      .def("start", &ModuleCalls::start)
      .def("stop", &ModuleCalls::stop)
      .def("remember", &ModuleCalls::remember)
      .def("remember_compiled", &ModuleCalls::remember_compiled)
      .def("ignore", &ModuleCalls::ignore)
      .def("forget", &ModuleCalls::forget)
      .def("prepare_again", &ModuleCalls::prepare_again)
      .def("set_wary", &ModuleCalls::set_wary)
      .def("is_open", &ModuleCalls::is_open)
      .def("close_lost", &ModuleCalls::close_lost)
      .def_property_readonly("before_forward", &callable<&before_forward, ModuleCalls>)
      .def_property_readonly("after_forward", &callable<&after_forward, ModuleCalls>);
  m.def("gradient_hook", &callable<&on_gradient, Tracker>);
  set_wrapped_labeller(&label_wrapped);
}

}  // namespace tidemark::recorder
