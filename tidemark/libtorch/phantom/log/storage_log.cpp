// Counts and writes under one lock: births come from the main and from autograd's threads.
#include "tidemark/libtorch/phantom/log/storage_log.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>

#include "tidemark/engine/base/rounding.h"
#include "tidemark/engine/base/units.h"
#include "tidemark/engine/tape/file_writer.h"

namespace tidemark::phantom {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A killed run may lose so much of its tape. (Full blocks are written as they come anyway.)
constexpr std::int64_t kFlushEvery_ns = 1'000'000'000;

// What the caching allocator accounts for a request.
std::int64_t rounded(std::int64_t bytes) { return rounded_up(bytes, kCudaGranularity); }

}  // namespace

StorageLog::StorageLog(OnOutOfMemory on_out_of_memory)
    : on_out_of_memory_(on_out_of_memory), start_ns_(now_ns()) {}

DeviceId StorageLog::device_id(c10::DeviceIndex device) {
  DeviceId& id = devices_.at(device);
  if (!id) id = builder_.tables().device("cuda:" + std::to_string(device));
  return id;
}

void StorageLog::feed() {
  const Event& event = builder_.last();
  if (!saves_ || event.time_ns - flushed_ns_ < kFlushEvery_ns) return;
  flushed_ns_ = event.time_ns;
  builder_.flush();
}

void StorageLog::log(LoggedEvent event) {
  event.time_ns = now_ns() - start_ns_;
  if (!held_.is_on()) return write(event);
  held_.add(event);
  if (held_.is_full()) write_held();
}

void StorageLog::write_held() {
  for (const LoggedEvent& event : held_.take()) write(event);
}

void StorageLog::write(const LoggedEvent& event) {
  builder_.set_time(event.time_ns);
  const Place& place = event.place;
  switch (event.kind) {
    case Kind::Alloc:
      builder_.alloc_as(event.storage, event.device, event.bytes, event.category, place);
      break;
    case Kind::Free: builder_.free(event.storage, place); break;
    case Kind::Relabel: builder_.relabel(event.storage, event.category, place); break;
    case Kind::ScopeBegin: builder_.begin_scope(*place.scope, {.phase = place.phase}); break;
    case Kind::ScopeEnd: builder_.end_scope(*place.scope, {.phase = place.phase}); break;
    case Kind::Mark: builder_.mark("out of memory", place); break;
    default: builder_.begin_step(place); break;
  }
  feed();
}

StorageId StorageLog::born(c10::DeviceIndex device, std::int64_t bytes, Category category,
                           const Place& place) {
  if (bytes == 0 || is_over_) return {};
  std::lock_guard lock(lock_);
  check_memory(device, bytes, place);
  const StorageId id = builder_.new_storage();
  categories_.push_back(category);
  const LoggedEvent birth{Kind::Alloc, 0, id, bytes, device_id(device), category, place};
  log(birth);
  DeviceCounters& c = counters_[device];
  c.allocated += rounded(bytes);
  c.requested += bytes;
  c.allocated_total += rounded(bytes);
  c.requested_total += bytes;
  c.allocated_peak = std::max(c.allocated_peak, c.allocated);
  c.requested_peak = std::max(c.requested_peak, c.requested);
  ++c.births;
  c.births_alive_peak = std::max(c.births_alive_peak, c.births - c.deaths);
  if (!out_of_memory_ && c.allocated > virtual_gpus().model().memory_bytes)
    note_out_of_memory(device, bytes, c.allocated - rounded(bytes), place);
  return id;
}

// The event that says where it happens is the last one so far.
void StorageLog::note_out_of_memory(c10::DeviceIndex device, std::int64_t wanted,
                                    std::int64_t allocated, const Place& place) {
  const Tables& tables = builder_.tables();
  const When at{static_cast<std::int64_t>(builder_.size() + held_.size()) - 1,
                now_ns() - start_ns_,
                step_,
                place.phase.value_or(builder_.phase()),
                {},
                std::string(tables.op_name(place.call)),
                tables.source(place.stack)};
  out_of_memory_ = {device, wanted, allocated, at};
}

void StorageLog::died(StorageId storage, c10::DeviceIndex device, std::int64_t bytes) {
  if (!storage || is_over_) return;
  std::lock_guard lock(lock_);
  log({.kind = Kind::Free, .storage = storage});
  DeviceCounters& c = counters_[device];
  c.allocated -= rounded(bytes);
  c.requested -= bytes;
  ++c.deaths;
}

// To the allocator a resize is a new block and the death of the old one; a storage that shrinks to
// nothing (as sharded parameters do) dies and is born again later.
StorageId StorageLog::resized(StorageId storage, c10::DeviceIndex device, std::int64_t before,
                              std::int64_t after, const Place& place) {
  const StorageId grown = born(device, after, category_of(storage), place);
  died(storage, device, before);
  return grown;
}

// A refused request is no birth: a mark says where it was.
void StorageLog::check_memory(c10::DeviceIndex device, std::int64_t wanted, const Place& place) {
  if (on_out_of_memory_ == OnOutOfMemory::GoOn) return;
  const std::int64_t capacity = virtual_gpus().model().memory_bytes;
  const std::int64_t allocated = counters_[device].allocated;
  if (allocated + rounded(wanted) <= capacity) return;
  log({.kind = Kind::Mark, .place = place});
  if (!out_of_memory_) note_out_of_memory(device, wanted, allocated, place);
  TORCH_CHECK_WITH(OutOfMemoryError, false,
                   "CUDA out of memory. Tried to allocate " + format_bytes(wanted) + ". GPU " +
                       std::to_string(device) + " has a total capacity of " +
                       format_bytes(capacity) + " of which " + format_bytes(capacity - allocated) +
                       " is free. (tidemark's virtual GPU)");
}

CallId StorageLog::call(std::string_view op, std::string_view signature) {
  std::lock_guard lock(lock_);
  return builder_.tables().call(op, signature);
}

StackId StorageLog::source(StackId caller, std::string_view file, std::uint32_t line,
                           std::string_view function) {
  std::lock_guard lock(lock_);
  return builder_.tables().stack(caller, file, line, function);
}

void StorageLog::begin_step() {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  log({.kind = Kind::Step});
  ++step_;
}

void StorageLog::begin_optimizer() {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  write_held();  // of a step that raised, and so never ended
  held_.begin(categories_.size());
}

void StorageLog::end_optimizer() {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  held_.end();
  write_held();
}

bool StorageLog::has_born_in_optimizer() const {
  std::lock_guard lock(lock_);
  return held_.alive() > 0;
}

void StorageLog::relabel(StorageId storage, Category category, ScopeId scope) {
  if (!storage || is_over_) return;
  std::lock_guard lock(lock_);
  if (categories_[storage.value] == category) return;
  categories_[storage.value] = category;
  if (!scope && held_.relabel_birth(storage, category)) return;
  LoggedEvent event{.kind = Kind::Relabel, .storage = storage, .category = category};
  event.place.scope = scope;
  log(event);
}

Category StorageLog::category_of(StorageId storage) const {
  if (!storage) return Category::Unknown;
  std::lock_guard lock(lock_);
  return categories_[storage.value];
}

ScopeId StorageLog::scope(std::string_view path) {
  std::lock_guard lock(lock_);
  return builder_.tables().scope(path);
}

void StorageLog::begin_scope(ScopeId scope, Phase phase) {
  if (is_over_) return;
  if (phase == Phase::Forward) follow_backward({});
  std::lock_guard lock(lock_);
  log_scope(scope, phase, Kind::ScopeBegin);
}

void StorageLog::end_scope(ScopeId scope, Phase phase) {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  log_scope(scope, phase, Kind::ScopeEnd);
}

void StorageLog::log_scope(ScopeId scope, Phase phase, Kind border) {
  LoggedEvent event{.kind = border};
  event.place.scope = scope;
  event.place.phase = phase;
  log(event);
}

void StorageLog::follow_backward(ScopeId scope) {
  if (is_over_ || backward_scope_.load(std::memory_order_relaxed) == scope.value) return;
  std::lock_guard lock(lock_);
  std::vector<ScopeId> path;
  for (ScopeId at = scope; at; at = builder_.tables().scopes()[at.value].parent) path.push_back(at);
  std::reverse(path.begin(), path.end());
  const auto same =
      std::mismatch(path.begin(), path.end(), in_backward_.begin(), in_backward_.end()).first -
      path.begin();
  while (static_cast<std::ptrdiff_t>(in_backward_.size()) > same) {
    log_scope(in_backward_.back(), Phase::Backward, Kind::ScopeEnd);
    in_backward_.pop_back();
  }
  for (auto one = path.begin() + same; one != path.end(); ++one) {
    log_scope(*one, Phase::Backward, Kind::ScopeBegin);
    in_backward_.push_back(*one);
  }
  backward_scope_ = scope.value;
}

void StorageLog::diagnose(std::string_view code, Severity severity, std::string where,
                          std::string message) {
  std::lock_guard lock(lock_);
  diagnostics_.add(code, severity, std::move(where), std::move(message));
}

void StorageLog::set_meta(std::string_view key, std::string_view value) {
  std::lock_guard lock(lock_);
  builder_.tables().set_meta(key, value);
}

bool StorageLog::has_called(std::span<const std::string_view> names) const {
  std::lock_guard lock(lock_);
  const Tables& tables = builder_.tables();
  return std::any_of(tables.calls().begin(), tables.calls().end(), [&](const Call& call) {
    const std::string_view op = tables.strings[call.op];
    return std::find(names.begin(), names.end(), op.substr(0, op.find('.'))) != names.end();
  });
}

Diagnostics StorageLog::diagnostics() const {
  std::lock_guard lock(lock_);
  return diagnostics_;
}

std::string StorageLog::describe(StackId source) const {
  std::lock_guard lock(lock_);
  return builder_.tables().source(source);
}

DeviceCounters StorageLog::counters(c10::DeviceIndex device) const {
  std::lock_guard lock(lock_);
  return counters_.at(device);
}

void StorageLog::reset_peak(c10::DeviceIndex device) {
  std::lock_guard lock(lock_);
  DeviceCounters& c = counters_.at(device);
  c.allocated_peak = c.allocated;
  c.requested_peak = c.requested;
  c.births_alive_peak = c.births - c.deaths;
}

void StorageLog::spill_to(TapeWriter& writer) {
  std::lock_guard lock(lock_);
  builder_.spill_to(writer, true);
  builder_.flush();
  saves_ = true;
}

void StorageLog::flush() {
  std::lock_guard lock(lock_);
  builder_.flush();
}

void StorageLog::before_fork() {
  lock_.lock();
  // What is in the buffer of the file would be written by both.
  builder_.flush();
}

void StorageLog::after_fork(bool in_child) {
  is_over_ = is_over_ || in_child;
  lock_.unlock();
}

Tape StorageLog::finish() {
  std::lock_guard lock(lock_);
  for (const Diagnostic& d : diagnostics_.all())
    builder_.diagnose(d.code, d.severity, d.where, d.message, d.count);
  write_held();
  is_over_ = true;
  return builder_.finish();
}

}  // namespace tidemark::phantom
