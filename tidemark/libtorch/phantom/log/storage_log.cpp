// Counts and tells under one lock: births come from the main and from autograd's threads.
#include "tidemark/libtorch/phantom/log/storage_log.h"

#include <c10/util/Exception.h>

#include <algorithm>

#include "tidemark/engine/base/rounding.h"
#include "tidemark/engine/base/units.h"
#include "tidemark/libtorch/attribution/clock.h"

namespace tidemark::phantom {
namespace {

using attribution::now_ns;

// Backwards are followed by the modules they work on, whatever thread that happens on.
constexpr std::uint32_t kBackward = 0;

// The number after those of the GPUs there can be.
constexpr c10::DeviceIndex kPinned = kMaxGpus;

// Found by one instruction: every birth and every death asks.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool t_has_purpose = false;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t t_number = kBackward;

std::uint32_t this_thread() {
  static constinit std::atomic<std::uint32_t> threads{kBackward};
  if (t_number == kBackward) [[unlikely]]
    t_number = ++threads;
  return t_number;
}

std::unique_ptr<attribution::RunTape> tape_at(const std::string& path) {
  return std::make_unique<attribution::RunTape>(attribution::TapeOptions{
      .path = path, .keeps_events = true, .device_name = [](std::uint8_t number) {
        return number == kPinned ? attribution::kPinnedHost : "cuda:" + std::to_string(number);
      }});
}

Note birth_of(StorageKey key, c10::DeviceIndex device, std::int64_t bytes, std::uint8_t flags) {
  return {.key = key,
          .bytes = bytes,
          .thread = this_thread(),
          .kind = NoteKind::Born,
          .device = static_cast<std::uint8_t>(device),
          .flags = flags};
}

}  // namespace

StorageLog::StorageLog(OnOutOfMemory on_out_of_memory, const std::string& path,
                       const AllocatorSettings& settings)
    : run_(attribution::Attribution(
               {.recompute_by_grad_mode = true, .count_at_birth = true, .knows_steps = true}),
           tape_at(path)),
      allocators_(on_out_of_memory, settings),
      on_out_of_memory_(on_out_of_memory),
      start_ns_(now_ns()) {
  run_.start(/*count_at_birth=*/true);
}

std::uint32_t StorageLog::thread_number() { return this_thread(); }

// A block, or the exception of a GPU that has none.
BlockId StorageLog::take_block(c10::DeviceIndex device, std::int64_t bytes, const Whence& whence) {
  const BlockId block = allocators_.request(device, bytes, pool_here(device));
  if (block == kNoBlock && on_out_of_memory_ == OnOutOfMemory::Raise) refuse(device, bytes, whence);
  return block;
}

// On a stream of the program's own the tape has it too: each has its own free blocks.
void StorageLog::tell_birth(const Note& note, const Whence& whence,
                            std::optional<StorageKey> moved_from) {
  Place place = whence.place;
  const c10::StreamId stream = current_stream(static_cast<c10::DeviceIndex>(note.device));
  if (stream != 0) place.stream = tape().tables().stream(stream);
  if (moved_from) run_.take_moved(*moved_from, note, &place);
  else run_.take(note, &place);
}

Holding StorageLog::born(c10::DeviceIndex device, std::int64_t bytes, const Whence& whence,
                         std::uint8_t more_flags) {
  if (bytes == 0 || is_over_) return {};
  std::lock_guard lock(lock_);
  const Holding made{last_key_ + 1, take_block(device, bytes, whence)};
  const auto flags = static_cast<std::uint8_t>(whence.flags | more_flags);
  tell_birth(birth_of(++last_key_, device, bytes, flags), whence);
  note_if_too_much(device, bytes, whence);
  return made;
}

// The tensors alone are more than the GPU has, for the first time.
void StorageLog::note_if_too_much(c10::DeviceIndex device, std::int64_t bytes,
                                  const Whence& whence) {
  const std::int64_t allocated = allocators_.of(device).counters().all.allocated.current;
  if (!out_of_memory_ && allocated > virtual_gpus().model().memory_bytes) [[unlikely]]
    note_out_of_memory(device, bytes, allocated - rounded_up(bytes, kCudaGranularity), whence);
}

// The event that says where it happens is the last one so far.
void StorageLog::note_out_of_memory(c10::DeviceIndex device, std::int64_t wanted,
                                    std::int64_t allocated, const Whence& whence) {
  const When at{static_cast<std::int64_t>(tape().events()) - 1,
                now_ns() - start_ns_,
                steps_begun(),
                run_.attribution().phase_now(this_thread(), whence.flags),
                {},
                std::string(tables().op_name(whence.place.call)),
                tables().source(whence.place.stack)};
  out_of_memory_ = {device, wanted, allocated, at};
}

void StorageLog::died(const Holding& storage, c10::DeviceIndex device) {
  if (!storage.key || is_over_) return;
  std::lock_guard lock(lock_);
  run_.take({.key = storage.key, .thread = this_thread(), .kind = NoteKind::Died});
  allocators_.free(device, storage.block);
}

StorageKey StorageLog::born_pinned(std::int64_t bytes, const Whence& whence) {
  if (is_over_) return 0;
  std::lock_guard lock(lock_);
  ++pinned_births_;
  run_.take(birth_of(++last_key_, kPinned, bytes, whence.flags), &whence.place);
  return last_key_;
}

void StorageLog::died_pinned(StorageKey storage) {
  if (!storage || is_over_) return;
  std::lock_guard lock(lock_);
  run_.take({.key = storage, .thread = this_thread(), .kind = NoteKind::Died});
}

// To the allocator a resize is a new block and the death of the old one; a storage that shrinks to
// nothing (as sharded parameters do) dies and is born again later.
Holding StorageLog::resized(const Holding& storage, c10::DeviceIndex device, std::int64_t after,
                            const Whence& whence) {
  Holding grown;
  if (after > 0 && !is_over_) {
    std::lock_guard lock(lock_);
    grown = {last_key_ + 1, take_block(device, after, whence)};
    tell_birth(birth_of(++last_key_, device, after, whence.flags), whence, storage.key);
    note_if_too_much(device, after, whence);
  }
  died(storage, device);
  return grown;
}

// What is only cached is given back before a request fails, so that it does not count.
bool StorageLog::would_refuse(c10::DeviceIndex device, std::int64_t bytes) {
  if (on_out_of_memory_ == OnOutOfMemory::GoOn) return false;
  std::lock_guard lock(lock_);
  const std::int64_t allocated = allocators_.of(device).counters().all.allocated.current;
  return bytes > virtual_gpus().model().memory_bytes - allocated;
}

// A refused request is no birth: a mark says where it was.
void StorageLog::refuse(c10::DeviceIndex device, std::int64_t wanted, const Whence& whence) {
  const std::int64_t capacity = virtual_gpus().model().memory_bytes;
  const PoolCounters& held = allocators_.of(device).counters().all;
  const std::int64_t allocated = held.allocated.current, reserved = held.reserved.current;
  tape().set_place(&whence.place);
  tape().mark("out of memory", this_thread(),
              run_.attribution().phase_now(this_thread(), whence.flags));
  tape().set_place(nullptr);
  if (!out_of_memory_) note_out_of_memory(device, wanted, allocated, whence);
  TORCH_CHECK_WITH(OutOfMemoryError, false,
                   "CUDA out of memory. Tried to allocate " + format_bytes(wanted) + ". GPU " +
                       std::to_string(device) + " has a total capacity of " +
                       format_bytes(capacity) + " of which " + format_bytes(capacity - reserved) +
                       " is free. Of the allocated memory " + format_bytes(allocated) +
                       " is allocated by PyTorch, and " + format_bytes(reserved - allocated) +
                       " is reserved by PyTorch but unallocated. (tidemark's virtual GPU)");
}

CallId StorageLog::call(std::string_view op, std::string_view signature) {
  std::lock_guard lock(lock_);
  return tape().tables().call(op, signature);
}

StackId StorageLog::source(StackId caller, std::string_view file, std::uint32_t line,
                           std::string_view function) {
  std::lock_guard lock(lock_);
  return tape().tables().stack(caller, file, line, function);
}

void StorageLog::begin_step_if_due() {
  if (is_over_ || !run_.awaits_step()) return;
  std::lock_guard lock(lock_);
  run_.take({.thread = this_thread(), .kind = NoteKind::StepBegan});
}

void StorageLog::begin_optimizer() {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  in_optimizer_ = true;
  run_.begin_optimizer(this_thread());
}

void StorageLog::end_optimizer() {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  run_.end_optimizer(this_thread());
  in_optimizer_ = false;
}

void StorageLog::set_in_closure(bool in_closure) {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  run_.set_in_closure(this_thread(), in_closure);
  in_optimizer_ = !in_closure;
}

bool StorageLog::has_purpose() { return t_has_purpose; }

std::optional<Category> StorageLog::set_purpose(std::optional<Category> purpose) {
  t_has_purpose = purpose.has_value();
  if (is_over_) return std::nullopt;
  std::lock_guard lock(lock_);
  return run_.set_purpose(this_thread(), purpose);
}

bool StorageLog::has_born_in_optimizer() {
  std::lock_guard lock(lock_);
  return run_.attribution().has_born_in_optimizer();
}

void StorageLog::relabel(StorageKey storage, Category category, ScopeId scope) {
  if (!storage || is_over_) return;
  std::lock_guard lock(lock_);
  tape().set_owner(scope);
  run_.attribution().relabel(storage, category);
  tape().set_owner({});
}

void StorageLog::take_input(StorageKey storage) {
  if (!storage || is_over_) return;
  std::lock_guard lock(lock_);
  run_.attribution().take_input(storage);
}

void StorageLog::take_gradient(StorageKey storage, StorageKey leaf) {
  if (!storage || is_over_) return;
  std::lock_guard lock(lock_);
  run_.attribution().take_gradient(storage, leaf);
}

ScopeId StorageLog::module(const std::string& path) {
  std::lock_guard lock(lock_);
  const ScopeId scope = tape().tables().scope(path);
  if (modules_.size() <= scope.value) modules_.resize(scope.value + 1);
  if (!modules_[scope.value]) {
    modules_[scope.value] = run_.add_module();
    run_.set_name(*modules_[scope.value], path);
  }
  return scope;
}

void StorageLog::tell_border(NoteKind kind, ScopeId module, std::uint32_t thread,
                             std::uint8_t flags) {
  run_.take({.bytes = *modules_[module.value], .thread = thread, .kind = kind, .flags = flags});
}

void StorageLog::begin_module(ScopeId module, std::uint8_t flags) {
  if (is_over_) return;
  if (!(flags & attribution::kInBackward)) follow_backward({});
  std::lock_guard lock(lock_);
  tell_border(NoteKind::ForwardBegan, module, this_thread(), flags);
}

void StorageLog::end_module(ScopeId module, std::uint8_t flags) {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  tell_border(NoteKind::ForwardEnded, module, this_thread(), flags);
}

void StorageLog::follow_backward(ScopeId module) {
  if (is_over_ || backward_module_.load(std::memory_order_relaxed) == module.value) return;
  std::lock_guard lock(lock_);
  std::vector<ScopeId> path;
  for (ScopeId at = module; at; at = tables().scopes()[at.value].parent) {
    const auto number = at.value < modules_.size() ? modules_[at.value] : std::nullopt;
    if (number && run_.book().is_known(*number)) path.push_back(at);  // lists are never called
  }
  std::reverse(path.begin(), path.end());
  const auto same =
      std::mismatch(path.begin(), path.end(), in_backward_.begin(), in_backward_.end()).first -
      path.begin();
  for (; static_cast<std::ptrdiff_t>(in_backward_.size()) > same; in_backward_.pop_back())
    tell_border(NoteKind::BackwardEnded, in_backward_.back(), kBackward, attribution::kInBackward);
  for (auto one = path.begin() + same; one != path.end(); ++one) {
    tell_border(NoteKind::BackwardBegan, *one, kBackward, attribution::kInBackward);
    in_backward_.push_back(*one);
  }
  backward_module_ = module.value;
}

void StorageLog::diagnose(std::string_view code, Severity severity, std::string where,
                          std::string message) {
  std::lock_guard lock(lock_);
  tape().diagnose(code, severity, std::move(where), std::move(message));
}

void StorageLog::set_meta(std::string_view key, std::string_view value) {
  std::lock_guard lock(lock_);
  tape().tables().set_meta(key, value);
}

bool StorageLog::has_called(std::span<const std::string_view> names) const {
  std::lock_guard lock(lock_);
  const Tables& known = tables();
  return std::any_of(known.calls().begin(), known.calls().end(), [&](const Call& call) {
    const std::string_view op = known.strings[call.op];
    return std::find(names.begin(), names.end(), op.substr(0, op.find('.'))) != names.end();
  });
}

Diagnostics StorageLog::diagnostics() const {
  std::lock_guard lock(lock_);
  return run_.written()->diagnostics();
}

std::string StorageLog::describe(StackId source) const {
  std::lock_guard lock(lock_);
  return tables().source(source);
}

void StorageLog::flush() {
  std::lock_guard lock(lock_);
  tape().flush();
}

void StorageLog::before_fork() {
  lock_.lock();
  // What is in the buffer of the file would be written by both.
  tape().flush();
}

void StorageLog::after_fork(bool in_child) {
  is_over_ = is_over_ || in_child;
  lock_.unlock();
}

Tape StorageLog::finish() {
  std::lock_guard lock(lock_);
  is_over_ = true;
  return tape().finish();
}

std::string StorageLog::file_problem() const {
  std::lock_guard lock(lock_);
  const RunFile* file = run_.written()->file();
  return file ? file->problem() : "";
}

}  // namespace tidemark::phantom
