// The storage's own resize_ between two notes; Python runs only where somebody there wants to hear.
#include "python/record/resizes.h"

#include <c10/core/StorageImpl.h>
#include <torch/csrc/Storage.h>

#include <algorithm>
#include <unordered_map>

#include "tidemark/libtorch/recorder/allocators.h"
#include "tidemark/libtorch/recorder/recorder.h"

namespace py = pybind11;

namespace tidemark::recorder {
namespace {

StorageKey name_of_object(const c10::StorageImpl& storage) {
  return static_cast<StorageKey>(reinterpret_cast<std::uintptr_t>(&storage));
}

// Storages that were left without memory. Weak references keep their addresses from other storages
// until the trackers have forgotten them. Under Python's lock.
class EmptiedStorages {
 public:
  void add(c10::StorageImpl& storage, bool was_watched) {
    if (all_.size() >= limit_) sweep();
    const auto strong = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(&storage);
    all_.insert_or_assign(name_of_object(storage), Emptied{Weak(strong), was_watched});
  }
  // Whether it was watched while it had memory.
  bool take(const c10::StorageImpl& storage) {
    const auto found = all_.find(name_of_object(storage));
    if (found == all_.end()) return false;
    const bool was_watched = found->second.was_watched;
    all_.erase(found);
    return was_watched;
  }

 private:
  using Weak = c10::weak_intrusive_ptr<c10::StorageImpl>;
  struct Emptied {
    Weak object;
    bool was_watched;
  };

  void sweep() {
    std::erase_if(all_, [](const auto& one) {
      if (!one.second.object.expired()) return false;
      Recorder::instance().note_forgotten(one.first);
      return true;
    });
    limit_ = std::max(kFewest, 2 * all_.size());
  }

  static constexpr std::size_t kFewest = 64;
  std::unordered_map<StorageKey, Emptied> all_;
  std::size_t limit_ = kFewest;
};
EmptiedStorages& g_emptied = *new EmptiedStorages();

// What stood in the method's place, a dictionary that is empty where nobody in Python wants to
// hear, and what tells those who do.
struct Resizing {
  PyObject *original, *hearers, *tell;
};
Resizing g_resizing{};

void tell_trackers(c10::StorageImpl& storage, bool was_watched) noexcept {
  try {
    was_watched |= g_emptied.take(storage);
    if (storage.nbytes() == 0) g_emptied.add(storage, was_watched);
    else if (was_watched) watch_storage(storage);
  } catch (...) {
    // There is no memory to remember it by: its next memory is watched if its allocator is.
  }
  Recorder::instance().note_resized(key_of(storage), static_cast<std::int64_t>(storage.nbytes()));
}

PyObject* call_original(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  PyObject* all[] = {self, count > 0 ? arguments[0] : nullptr};
  if (count <= 1)
    return PyObject_Vectorcall(g_resizing.original, all, static_cast<std::size_t>(count + 1),
                               nullptr);
  PyErr_Format(PyExc_TypeError, "resize_() takes exactly one argument (%zd given)", count);
  return nullptr;
}

PyObject* resize(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Recorder& recorder = Recorder::instance();
  const c10::Storage storage = THPStorage_Unpack(self);
  c10::StorageImpl* const object =
      recorder.is_listening() ? storage.unsafeGetStorageImpl() : nullptr;
  const bool was_watched = object && is_watched(*object);
  if (object) recorder.note_resizing(key_of(*object), name_of_object(*object));
  PyObject* result = call_original(self, arguments, count);
  if (!result) return nullptr;
  if (object) tell_trackers(*object, was_watched);
  if (PyDict_GET_SIZE(g_resizing.hearers) == 0) return result;
  PyObject* const told = PyObject_CallOneArg(g_resizing.tell, self);
  if (!told) Py_CLEAR(result);
  Py_XDECREF(told);
  return result;
}

PyMethodDef g_resize_definition{
    "resize_", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&resize)), METH_FASTCALL,
    nullptr};

void replace(PyObject*& place, const py::object& value) {
  PyObject* const before = place;
  place = py::object(value).release().ptr();
  Py_XDECREF(before);
}

// Methods are made one after the other, each for the same class.
py::object followed_resize(const py::object& original, const py::dict& hearers,
                           const py::function& tell) {
  replace(g_resizing.original, original);
  replace(g_resizing.hearers, hearers);
  replace(g_resizing.tell, tell);
  return py::reinterpret_steal<py::object>(
      PyDescr_NewMethod(THPStorageClass, &g_resize_definition));
}

}  // namespace

void bind_resizes(py::module_& m) {
  m.def("followed_resize", &followed_resize, py::arg("original"), py::arg("hearers"),
        py::arg("tell"));
}

}  // namespace tidemark::recorder
