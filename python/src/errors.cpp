// tidemark.Error: the engine's one exception, with its four parts as attributes.
#include "python/src/bindings.h"

#include "python/src/values.h"
#include "tidemark/engine/base/error.h"

namespace tidemark::python {
namespace {

constexpr const char* kDoc =
    "What went wrong (message), where, what to try (hint), and a stable code for scripts.";

// Lives as long as the interpreter, like the module that holds it.
PyObject* error_class = nullptr;

void raise(const Error& error) {
  py::object raised = py::handle(error_class)(decoded(error.what()));
  raised.attr("code") = decoded(name_of(error.code()));
  raised.attr("message") = decoded(error.message());
  raised.attr("where") = decoded(error.where());
  raised.attr("hint") = decoded(error.hint());
  PyErr_SetObject(error_class, raised.ptr());
}

}  // namespace

void bind_errors(py::module_& module) {
  error_class = PyErr_NewExceptionWithDoc("tidemark.Error", kDoc, PyExc_Exception, nullptr);
  if (!error_class) throw py::error_already_set();
  for (const char* part : {"code", "message", "where", "hint"})
    py::setattr(error_class, part, py::str());
  module.attr("Error") = py::reinterpret_borrow<py::object>(error_class);
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      raise(error);
    }
  });
}

}  // namespace tidemark::python
