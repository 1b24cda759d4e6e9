// One tracker, as the program meets it: it tells what happens in notes, and answers questions.
//
// What the notes mean is found out behind the program's back, see TrackedRun.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/libtorch/recorder/followed_leaves.h"
#include "tidemark/libtorch/recorder/recorder.h"
#include "tidemark/libtorch/recorder/tracked_run.h"

namespace tidemark::recorder {

using attribution::Attribution;
using attribution::CallBytes;
using attribution::ModuleNumber;
using attribution::OutOfMemory;
using attribution::Rows;

struct TrackerOptions {
  attribution::Rules rules;
  const attribution::Scheme* scheme = &attribution::kMemTracker;
  std::string tape;      // write a tape there; empty for none
  bool origins = false;  // with the line, operator and shape of every birth
};

class Tracker : public std::enable_shared_from_this<Tracker> {
 public:
  explicit Tracker(const TrackerOptions& options);
  ~Tracker();
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  // Births count between start and stop; deaths always do. `outputs`: for fake tensors, whose
  // device is known only from what operators return; operators are then followed in any case.
  void start(bool outputs = false);
  void stop();
  bool is_running() const { return running_ && !is_orphan() && !run_.has_given_up(); }
  // Made by the parent of this forked process: it takes nothing, and writes nothing.
  bool is_orphan() const { return run_.is_orphan(); }
  // An error of ours: nothing more is followed, and the program goes on.
  void give_up(const char* why) noexcept { run_.give_up(why); }
  // Why it was given up; empty if it was not.
  std::string why_given_up() const { return run_.why_given_up(); }
  // What the reader of the tape must know of how it was made.
  void diagnose(const std::string& code, const std::string& message);

  // The name is for the tape; it may change until the next call.
  ModuleNumber add_module();
  void set_name(ModuleNumber module, const std::string& name);
  void begin_forward(ModuleNumber module, at::TensorList inputs);
  // `failed`: the module raised.
  void end_forward(ModuleNumber module, at::TensorList outputs, bool failed);
  // The call of this module, and those inside it, ended without a word.
  void abandon_forward(ModuleNumber module);
  void begin_optimizer();
  void end_optimizer();
  bool in_optimizer();
  // Whether something that was born since the last begin_optimizer() is alive.
  bool has_born_in_optimizer();
  void set_in_closure(bool in_closure);
  // What this thread makes from here on is of this category; see ThreadWork.
  std::optional<Category> set_purpose(std::optional<Category> purpose);
  // A moment of a module that the program tells, not the borders of its calls.
  void tell_moment(ModuleNumber module, attribution::Moment moment);
  // Training steps that an optimizer's step has ended.
  std::int64_t steps_done();

  // Makes the tensors' storages known. False if the death of one cannot be noticed from here.
  // `owner`: the module that they belong to, in the tape.
  bool label(at::TensorList tensors, Category category,
             const std::optional<std::string>& owner = std::nullopt);
  bool label(const at::Tensor& tensor, Category category);
  // Labels the gradients of this leaf as soon as each has been accumulated, until the tracker
  // stops; after hooks of the program that are there already, where `comes_last`.
  void follow_gradient(const at::Tensor& leaf, bool comes_last,
                       Category category = Category::Gradient);
  // The module that storages labelled from here on belong to, in the tape; empty for none.
  void set_owner(const std::string& path);
  std::int64_t known_bytes(at::TensorList tensors);
  void forget(attribution::StorageKey key);
  // What a storage that counts is; else nothing.
  std::optional<Category> category_of(const c10::StorageImpl& storage);

  // Remembers what is alive now: the allocator of this device has just failed.
  void capture_out_of_memory(std::int64_t wanted, const std::string& device);
  std::optional<OutOfMemory> last_out_of_memory();
  // Makes known what the program has on GPUs already.
  void adopt_cuda_memory();
  // What the tape says of the run as a whole; nothing where no tape is written.
  void set_meta(const std::string& key, const std::string& value);
  // Makes the tape's file whole, until the next start.
  void close_tape();
  // The same for good: nothing is written afterwards.
  void finish();
  // Where the file could not be written to its end: why, and what it lacks.
  struct Unsaved {
    std::string problem;  // empty for a file that only cannot be read back
    std::size_t events_in_file;
    std::uint64_t bytes_in_file;
    std::vector<std::byte> rest;
    bool has_dropped;  // the rest was too long to be kept
  };
  std::optional<Unsaved> unsaved();
  std::size_t events();

  const attribution::Scheme& scheme() const { return *options_.scheme; }
  Rows current();
  Rows peak();
  attribution::ModuleStats stats(ModuleNumber module);
  Rows local_peak(ModuleNumber module);
  bool has_stats(ModuleNumber module);
  CallBytes last_call(ModuleNumber module);
  bool is_active(ModuleNumber module);
  void clear_modules();
  std::size_t storage_count();

 private:
  Recorder::Wanted wanted() const;
  // With everything counted that this thread's operators have left behind. Under the lock.
  Attribution& attribution_here();
  struct Labelled {
    attribution::StorageKey key;
    std::int64_t bytes;
    std::uint8_t device;
  };
  bool counts_at_birth() const { return running_ && options_.rules.count_at_birth && !outputs_; }
  void tell_label(const Labelled& storage, Category category);
  void label_all(const std::vector<Labelled>& all, Category category,
                 const std::optional<std::string>& owner);
  void own(const std::string& path);  // under the lock
  void tell_border(Note note, ModuleNumber module, at::TensorList passed);
  // Borders of backwards, as actions on gradients.
  using Gradients = std::vector<at::Tensor>;
  static void begin_backward_of(void* tracker, std::uint32_t module, const Gradients&);
  static void end_backward_of(void* tracker, std::uint32_t module, const Gradients&);
  static void label_accumulated(void* tracker, const at::Tensor& gradient, Category category);
  void tell_backward(NoteKind kind, ModuleNumber module);
  void follow_backward();
  void finish_backward(std::uint32_t thread, const std::vector<ModuleNumber>& ends);
  // Inside the program's own backward, or where an object ends: nothing comes out of it.
  template <class Work>
  void try_to(const Work& work) noexcept {
    try {
      work();
    } catch (const std::exception& error) {
      give_up(error.what());
    } catch (...) {
      give_up("an error without a name");
    }
  }

  const TrackerOptions options_;
  const std::uint64_t number_;  // no other has had it
  TrackedRun run_;
  FollowedLeaves leaves_;
  // The last thread and backward that were followed: most hooks need not ask further.
  std::atomic<std::uint64_t> last_followed_{0};
  std::atomic<bool> running_{false}, outputs_{false};
};

// Labels a gradient that only Python can take apart. Its errors end the tracking, and what is none
// (an interrupt) goes to the program.
using LabelWrapped = void (*)(Tracker& tracker, const at::Tensor& gradient, Category category);
void set_wrapped_labeller(LabelWrapped label);

}  // namespace tidemark::recorder
