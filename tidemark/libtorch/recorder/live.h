// Tracking for C++ programs on libtorch: objects whose lifetimes are the borders.
//
//   Live live;
//   live.add_parameters("net", net->parameters());
//   {
//     ForwardScope scope(live, "net.hidden", {x});
//     x = scope.leave(torch::relu(hidden(x)));
//   }
//   { OptimizerScope step(live); optimizer.step(); }
//   live.peak();
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/libtorch/recorder/tracker.h"

namespace tidemark::recorder {

// The bytes of one device by category, in the order of attribution::kMemTracker.
struct DeviceBytes {
  std::string device;
  attribution::Row row;
};

// Follows the program from construction to destruction. Several may be alive at once.
class Live {
 public:
  // With a path, a tape is written there.
  explicit Live(const std::string& tape = "");
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // Parameters, with their gradients as they come, and buffers of the module of this name.
  void add_parameters(const std::string& module, const std::vector<at::Tensor>& parameters);
  void add_buffers(const std::string& module, const std::vector<at::Tensor>& buffers);
  void label(const std::vector<at::Tensor>& tensors, Category category);

  std::vector<DeviceBytes> current() const;
  std::vector<DeviceBytes> peak() const;
  // Ends the tape.
  void finish();

 private:
  friend class ForwardScope;
  friend class OptimizerScope;
  ModuleNumber number_of(const std::string& module);
  // At the end of an object's life: what goes wrong ends the tracking, not the program.
  template <class Work>
  void try_to(const Work& work) noexcept {
    try {
      work();
    } catch (const std::exception& error) {
      tracker_->give_up(error.what());
    } catch (...) {
      tracker_->give_up("an error without a name");
    }
  }

  std::shared_ptr<Tracker> tracker_;
  std::map<std::string, ModuleNumber> modules_;
  struct HookedParameter {
    at::Tensor parameter;
    unsigned hook;
  };
  std::vector<HookedParameter> hooked_;
};

// A module's forward, from construction to destruction; its backward follows by itself.
class ForwardScope {
 public:
  ForwardScope(Live& live, const std::string& module, const std::vector<at::Tensor>& inputs = {});
  ~ForwardScope();
  ForwardScope(const ForwardScope&) = delete;
  ForwardScope& operator=(const ForwardScope&) = delete;

  // Names what the module returns, so that its backward is known; hands it through.
  at::Tensor leave(at::Tensor output);

 private:
  Live& live_;
  ModuleNumber module_;
  std::vector<at::Tensor> outputs_;
};

// An optimizer's step. What it made and is in `state` afterwards is its state, the rest scratch.
class OptimizerScope {
 public:
  explicit OptimizerScope(Live& live);
  ~OptimizerScope();
  OptimizerScope(const OptimizerScope&) = delete;
  OptimizerScope& operator=(const OptimizerScope&) = delete;

  void state(const std::vector<at::Tensor>& tensors);

 private:
  Live& live_;
};

}  // namespace tidemark::recorder
