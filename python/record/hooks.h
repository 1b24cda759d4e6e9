// Hooks of PyTorch's modules and parameters that run no Python code where a call is as usual.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "tidemark/libtorch/recorder/tracker.h"

namespace tidemark::recorder {

// The calls of modules that one tracker follows. Only touched with Python's lock held.
class ModuleCalls {
 public:
  // `hears_compiled`: compiled modules too, in place of what is inside them.
  ModuleCalls(std::shared_ptr<Tracker> tracker, bool hears_compiled)
      : tracker_(std::move(tracker)), hears_compiled_(hears_compiled) {}

  // prepare(module) runs before a call that is not as usual, give_up(problem) after an error of
  // ours. Neither is kept beyond stop.
  void start(pybind11::object prepare, pybind11::object give_up);
  void stop();

  // The module is known by this number from here on, and its next call is as usual.
  void remember(pybind11::handle module, ModuleNumber number);
  // A compiled module: it is heard inside of compiled regions, where no other is.
  void remember_compiled(pybind11::handle module, ModuleNumber number);
  // The module only calls another: nobody hears of its calls.
  void ignore(pybind11::handle module);
  void forget(std::uintptr_t module);
  // Every module is prepared again.
  void prepare_again();
  // While set, every call is prepared.
  void set_wary(bool wary) { is_wary_ = wary; }
  bool is_open(pybind11::handle module) const;
  // Calls that the tracker knows nothing of are over.
  void close_lost();

  void begin(PyObject* module, PyObject* inputs);
  void end(PyObject* module, PyObject* outputs);
  void give_up(pybind11::handle problem);

 private:
  struct Module {
    ModuleNumber number = 0;
    int open = 0;
    bool is_ready = false, is_ignored = false, is_compiled = false;
    const PyObject* raised_before = nullptr;  // only compared
  };
  Module* find(PyObject* module);
  bool is_heard(PyObject* module, const Module* known) const;

  const std::shared_ptr<Tracker> tracker_;
  const bool hears_compiled_;
  pybind11::object prepare_, give_up_;
  std::unordered_map<PyObject*, Module> modules_;  // by address, while they live
  bool is_wary_ = false;
};

void bind_hooks(pybind11::module_& m);

}  // namespace tidemark::recorder
