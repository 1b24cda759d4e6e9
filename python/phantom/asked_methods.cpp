// Optimizers ask for a value of every parameter at every step: no Python code runs on the way.
#include "python/phantom/asked_methods.h"

#include <c10/core/TensorImpl.h>

#include <memory>
#include <string>
#include <utility>

#include "python/phantom/bordered_call.h"
#include "tidemark/libtorch/phantom/values/host_certainty.h"
#include "tidemark/libtorch/phantom/values/value_questions.h"

namespace py = pybind11;

namespace tidemark::phantom {
namespace {

// The storage of a plain CPU tensor; null for any other object.
const c10::StorageImpl* host_storage(py::handle tensor) {
  const auto number =
      py::reinterpret_steal<py::object>(PyObject_GetAttrString(tensor.ptr(), "_cdata"));
  const auto* const impl =
      number ? static_cast<const c10::TensorImpl*>(PyLong_AsVoidPtr(number.ptr())) : nullptr;
  PyErr_Clear();  // a subclass may refuse to tell
  const bool is_plain =
      impl && impl->is_cpu() && impl->layout() == c10::kStrided && impl->has_storage();
  return is_plain ? impl->unsafe_storage().unsafeGetStorageImpl() : nullptr;
}

class QuestionBorders : public CallBorders {
 public:
  explicit QuestionBorders(std::string word) : word_(std::move(word)) {}

  // Inside another question, that one is what the program wrote.
  bool before(PyObject* self, std::span<PyObject* const>) override {
    if (const char* const outer = set_asked_as(word_.c_str())) {
      set_asked_as(outer);
      return false;
    }
    try {
      const c10::StorageImpl* const storage = has_assumed_hosts() ? host_storage(self) : nullptr;
      if (storage) note_asked_of(*storage);
    } catch (...) {
      set_asked_as(nullptr);
      throw;
    }
    return true;
  }

  void after(PyObject*) override { set_asked_as(nullptr); }

 private:
  std::string word_;
};

}  // namespace

void bind_asked_methods(py::module_& m) {
  m.def("asked_method", [](py::handle original, std::string word) {
    return bordered_method(original, std::make_unique<QuestionBorders>(std::move(word)));
  });
}

}  // namespace tidemark::phantom
