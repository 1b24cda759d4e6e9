// One tracker: follows modules, gradients and optimizers, and knows what every storage is.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "tidemark/torch/attribution/attribution.h"
#include "tidemark/torch/attribution/module_book.h"

namespace tidemark::recorder {

using attribution::ModuleNumber;
using attribution::Rows;

struct TrackerOptions {
  bool times = false;    // notes carry the time
  attribution::Rules rules;
};

class Tracker : public std::enable_shared_from_this<Tracker> {
 public:
  explicit Tracker(TrackerOptions options);
  ~Tracker();
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  // Births count between start and stop; deaths always do. `outputs`: for fake tensors, whose
  // device is known only from what operators return.
  void start(bool outputs = false);
  void stop();
  bool is_running() const { return running_; }

  ModuleNumber add_module();
  // Returns the known bytes of the inputs.
  std::int64_t begin_forward(ModuleNumber module, const std::vector<at::Tensor>& inputs);
  // `failed`: the module raised. Returns the known bytes of the outputs.
  std::int64_t end_forward(ModuleNumber module, const std::vector<at::Tensor>& outputs, bool failed);
  void begin_optimizer();
  void end_optimizer();
  bool in_optimizer();

  // Makes the tensors' storages known. False if the death of one cannot be noticed from here.
  bool label(const std::vector<at::Tensor>& tensors, Category category);
  std::int64_t known_bytes(const std::vector<at::Tensor>& tensors);
  void forget(attribution::StorageKey key);
  // A storage that is about to get other memory, and the same one afterwards.
  struct Known {
    Category category;
    std::uint8_t device;
  };
  std::optional<Known> find(const c10::StorageImpl& storage);
  void resized(c10::StorageImpl& storage, Known before);

  Rows current();
  Rows peak();
  attribution::ModuleStats stats(ModuleNumber module);
  Rows local_peak(ModuleNumber module);
  bool has_stats(ModuleNumber module);
  bool is_active(ModuleNumber module);
  void clear_modules();
  std::size_t storage_count();

 private:
  struct AwaitedEnd {  // a module without differentiable inputs ends with the next backward
    ModuleNumber module;
    std::uint32_t thread;
  };

  std::int64_t known_bytes_quietly(const std::vector<at::Tensor>& tensors) const;
  void begin_backward(ModuleNumber module);
  void end_backward(ModuleNumber module);
  void follow_backward();
  void finish_backward(std::uint32_t thread, const std::vector<ModuleNumber>& ends);

  const TrackerOptions options_;
  attribution::Attribution attribution_;
  attribution::ModuleBook book_;
  std::vector<AwaitedEnd> awaited_ends_;
  std::vector<std::uint32_t> backward_threads_;  // threads whose backward is followed
  bool running_ = false, outputs_ = false;
};

}  // namespace tidemark::recorder
