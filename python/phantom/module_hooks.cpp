// Called at every border of a module call and for every gradient: no Python code runs on the way.
#include "module_hooks.h"

#include <torch/csrc/autograd/python_variable.h>

#include <unordered_map>

#include "tidemark/torch/phantom/module_calls.h"
#include "tidemark/torch/phantom/phantom_tensor.h"
#include "tidemark/torch/phantom/session.h"

namespace py = pybind11;

namespace tidemark::phantom {
namespace {

// Modules by address, while they live. Only touched with Python's lock held.
std::unordered_map<PyObject*, ScopeId> g_modules;
py::object* g_meet = nullptr;        // meet(module): names it and what is below
py::object* g_take_inputs = nullptr;  // take_inputs(inputs) of an outermost call

void set_callback(py::object*& slot, py::object callback) {
  delete std::exchange(slot, callback.is_none() ? nullptr : new py::object(std::move(callback)));
}

void before(py::handle module, py::handle inputs) {
  auto found = g_modules.find(module.ptr());
  if (found == g_modules.end() && g_meet) {
    (*g_meet)(module);
    found = g_modules.find(module.ptr());
  }
  if (found == g_modules.end()) return;
  if (!current_module() && g_take_inputs) (*g_take_inputs)(inputs);
  begin_module(found->second);
}

void after(py::handle module, py::handle, py::handle) {
  const auto found = g_modules.find(module.ptr());
  if (found != g_modules.end()) end_module(found->second);
}

void label_gradient(const at::Tensor& gradient) {
  if (!gradient.has_storage()) return;
  const StorageRecord* record = record_of(gradient);
  StorageLog* log = record ? storage_log(record->session) : nullptr;
  if (log) log->relabel(record->id, Category::Gradient);
}

void label_gradient_of(py::handle parameter) {
  const at::Tensor& gradient = THPVariable_Unpack(parameter.ptr()).grad();
  if (!gradient.defined()) return;
  if (!gradient.is_sparse()) return label_gradient(gradient);
  label_gradient(gradient._indices());
  label_gradient(gradient._values());
}

void forget_all() {
  g_modules.clear();
  set_callback(g_meet, py::none());
  set_callback(g_take_inputs, py::none());
}

}  // namespace

void bind_module_hooks(py::module_& m) {
  m.def("watch_modules", [](py::object meet, py::object take_inputs) {
    set_callback(g_meet, std::move(meet));
    set_callback(g_take_inputs, std::move(take_inputs));
  });
  m.def("unwatch_modules", &forget_all);
  m.def("remember_module", [](py::handle module, ScopeId::rep scope) {
    g_modules[module.ptr()] = ScopeId(scope);
  });
  m.def("forget_module", [](std::uintptr_t id) {
    g_modules.erase(reinterpret_cast<PyObject*>(id));
  });
  m.def("before_module", &before);
  m.def("after_module", &after);
  m.def("label_gradient_of", &label_gradient_of);
}

}  // namespace tidemark::phantom
