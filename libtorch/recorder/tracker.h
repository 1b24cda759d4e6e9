// One tracker: follows modules, gradients and optimizers, and knows what every storage is.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tidemark/torch/attribution/attribution.h"
#include "tidemark/torch/attribution/module_book.h"
#include "tidemark/torch/recorder/recorder.h"
#include "tidemark/torch/recorder/tape_log.h"

namespace tidemark::recorder {

using attribution::ModuleNumber;
using attribution::Rows;

struct TrackerOptions {
  attribution::Rules rules;
  std::string tape;  // write a tape there; empty for none
};

class Tracker : public std::enable_shared_from_this<Tracker> {
 public:
  explicit Tracker(TrackerOptions options);
  ~Tracker();
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  // Births count between start and stop; deaths always do. `outputs`: for fake tensors, whose
  // device is known only from what operators return; operators are then followed in any case.
  void start(bool outputs = false);
  void stop();
  bool is_running() const { return running_; }

  // The name is for the tape; it may change until the next call.
  ModuleNumber add_module();
  void set_name(ModuleNumber module, const std::string& name);
  // Returns the known bytes of the inputs; 0 where a tape is written.
  std::int64_t begin_forward(ModuleNumber module, at::TensorList inputs);
  // `failed`: the module raised. Returns the known bytes of the outputs.
  std::int64_t end_forward(ModuleNumber module, at::TensorList outputs, bool failed);
  // The call of this module, and those inside it, ended without a word.
  void abandon_forward(ModuleNumber module);
  void begin_optimizer();
  void end_optimizer();
  bool in_optimizer();

  // Makes the tensors' storages known. False if the death of one cannot be noticed from here.
  bool label(at::TensorList tensors, Category category);
  bool label(const at::Tensor& tensor, Category category);
  // The module that storages labelled from here on belong to, in the tape; empty for none.
  void set_owner(const std::string& path);
  std::int64_t known_bytes(at::TensorList tensors);
  void forget(attribution::StorageKey key);
  // A storage that is about to get other memory, and the same one afterwards.
  struct Known {
    Category category;
    std::uint8_t device;
  };
  std::optional<Known> find(const c10::StorageImpl& storage);
  void resized(c10::StorageImpl& storage, Known before);

  // Remembers what is alive now: the allocator of this device has just failed.
  void capture_out_of_memory(std::int64_t wanted, const std::string& device);
  struct OutOfMemory {
    std::int64_t wanted = 0;
    std::string device;
    Rows rows;
    std::vector<LiveStorage> largest;
    std::vector<std::string> open_modules;  // outermost first
  };
  std::optional<OutOfMemory> last_out_of_memory();
  // Closes the tape. Nothing is written afterwards.
  void finish();
  std::size_t events();

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

  std::int64_t known_bytes_quietly(at::TensorList tensors) const;
  void forget_call(ModuleNumber module, std::uint32_t thread, bool failed);
  void begin_backward(ModuleNumber module);
  void end_backward(ModuleNumber module);
  // The same as actions on gradients.
  using Gradients = std::vector<at::Tensor>;
  static void begin_backward_of(void* tracker, std::uint32_t module, const Gradients&);
  static void end_backward_of(void* tracker, std::uint32_t module, const Gradients&);
  void follow_backward();
  void finish_backward(std::uint32_t thread, const std::vector<ModuleNumber>& ends);

  const TrackerOptions options_;
  attribution::Attribution attribution_;
  attribution::ModuleBook book_;
  struct OpenCall {
    ModuleNumber module;
    std::uint32_t thread;
    std::size_t awaited_ends;  // how many there were before it
  };

  Recorder::Wanted wanted() const;
  void remember_out_of_memory(std::int64_t wanted, const std::string& device);
  void write_begin(ModuleNumber module, std::uint32_t thread, Phase phase);
  void write_end(ModuleNumber module, std::uint32_t thread, Phase phase);
  std::vector<std::string> names_;
  std::vector<ScopeId> scopes_;  // the same modules in the tape
  std::unique_ptr<TapeLog> log_;
  std::optional<OutOfMemory> out_of_memory_;
  std::vector<AwaitedEnd> awaited_ends_;
  std::vector<OpenCall> open_calls_;
  std::vector<std::uint32_t> backward_threads_;  // threads whose backward is followed
  bool running_ = false, outputs_ = false;
};

}  // namespace tidemark::recorder
