// Called at every border of a module call: no Python code runs on the way.
#include "python/phantom/module_hooks.h"

#include <memory>
#include <unordered_map>

#include "python/phantom/bordered_call.h"
#include "tidemark/libtorch/phantom/log/module_calls.h"

namespace py = pybind11;

namespace tidemark::phantom {
namespace {

// Only touched with Python's lock held.
struct Watched {
  // By address, while they live; those without a scope only call others, and are not followed.
  std::unordered_map<PyObject*, ScopeId> modules;
  py::object* meet = nullptr;         // meet(module): names it and what is below
  py::object* take_inputs = nullptr;  // take_inputs(inputs) of an outermost call
};
Watched g_watched;

void set_callback(py::object*& slot, py::object callback) {
  delete std::exchange(slot, callback.is_none() ? nullptr : new py::object(std::move(callback)));
}

void take_inputs(std::span<PyObject* const> args) {
  py::tuple inputs(args.size());
  for (std::size_t i = 0; i < args.size(); ++i)
    inputs[i] = py::reinterpret_borrow<py::object>(args[i]);
  (*g_watched.take_inputs)(inputs);
}

class ModuleBorders : public CallBorders {
 public:
  bool before(PyObject* module, std::span<PyObject* const> args) override {
    auto found = g_watched.modules.find(module);
    if (found == g_watched.modules.end() && g_watched.meet) {
      (*g_watched.meet)(py::handle(module));
      found = g_watched.modules.find(module);
    }
    if (found == g_watched.modules.end() || !found->second) return false;
    if (!current_module()) {
      begin_step_of_module();
      if (g_watched.take_inputs) take_inputs(args);
    }
    begin_module(found->second);
    return true;
  }

  void after(PyObject* module) override {
    const auto found = g_watched.modules.find(module);
    if (found != g_watched.modules.end() && found->second) end_module(found->second);
  }
};

void forget_all() {
  g_watched.modules.clear();
  set_callback(g_watched.meet, py::none());
  set_callback(g_watched.take_inputs, py::none());
}

}  // namespace

void bind_module_hooks(py::module_& m) {
  m.def("watch_modules", [](py::object meet, py::object take_inputs) {
    set_callback(g_watched.meet, std::move(meet));
    set_callback(g_watched.take_inputs, std::move(take_inputs));
  });
  m.def("unwatch_modules", &forget_all);
  m.def("remember_module", [](py::handle module, std::int64_t scope) {
    g_watched.modules[module.ptr()] =
        scope < 0 ? ScopeId() : ScopeId(static_cast<ScopeId::rep>(scope));
  });
  m.def("forget_module",
        [](std::uintptr_t id) { g_watched.modules.erase(reinterpret_cast<PyObject*>(id)); });
  // Stands in for torch.nn.Module's method that calls forward: hooks on all modules would send
  // every call the slow way.
  m.def("watched_module_call", [](py::handle original) {
    return bordered_method(original, std::make_unique<ModuleBorders>());
  });
}

}  // namespace tidemark::phantom
