// A queue of events in front of a TapeBuilder.
#include "tidemark/libtorch/attribution/run_tape.h"

#include <algorithm>

#include "tidemark/libtorch/attribution/clock.h"

namespace tidemark::attribution {

namespace {

// At most so many wait, which is 80 MB; the first step over half a million states is shorter.
constexpr std::size_t kMostWaiting = std::size_t{1} << 20;
constexpr std::size_t kMostInMemory = std::size_t{64} << 20;
// A killed run may lose so much of its tape. (Full blocks are written as they come anyway.)
constexpr std::int64_t kFlushEvery_ns = 1'000'000'000;

}  // namespace

RunTape::RunTape(TapeOptions options) : options_(std::move(options)), start_ns_(now_ns()) {
  if (options_.path.empty()) return;
  file_ = std::make_unique<File>(options_.path, options_.keeps_events ? 0 : kMostInMemory);
  builder_.spill_to(file_->writer, options_.keeps_events);
}

DeviceId RunTape::device_id(std::uint8_t number) {
  if (devices_.size() <= number) devices_.resize(number + 1);
  if (!devices_[number]) devices_[number] = builder_.tables().device(options_.device_name(number));
  return devices_[number];
}

// Threads write notes at the same time, and adopted storages come without one: time never falls.
void RunTape::enqueue(Waiting&& event) {
  if (event.time_ns == 0) event.time_ns = time_ns_ ? time_ns_ : now_ns();
  event.time_ns = std::max(last_ns_, event.time_ns - start_ns_);
  last_ns_ = event.time_ns;
  if (queue_.empty() && event.is_known && !is_closed_) return write(event);
  queue_.push_back(event);
  if (is_closed_) return;
  // A step that never ends must not eat the memory.
  if (queue_.size() > kMostWaiting) release();
  write_known();
}

void RunTape::write_known() {
  if (is_closed_) return;
  while (!queue_.empty() && queue_.front().is_known) {
    write(queue_.front());
    queue_.pop_front();
    ++dequeued_;
  }
}

void RunTape::write(const Waiting& event) {
  Event row;
  row.kind = event.kind;
  row.time_ns = event.time_ns;
  row.scope = event.scope;
  row.phase = event.phase;
  row.stack = event.stack;
  row.call = event.call;
  row.stream = event.stream;
  if (event.storage) fill_in(row, event);
  if (is_about_pool(event.kind)) {
    row.subject = event.pool;
    row.device = device_id(event.device);
  }
  const bool flushes = file_ && event.time_ns - flushed_ns_ > kFlushEvery_ns;
  if (flushes) flushed_ns_ = event.time_ns;
  try_to([&] {
    builder_.append(row);
    if (flushes) builder_.flush();
  });
}

// Whatever happens, the program goes on, and its storages are followed.
template <class Write>
void RunTape::try_to(const Write& write) noexcept {
  if (problem_) return;
  try {
    write();
  } catch (...) {
    problem_ = std::current_exception();
  }
  if (!file_ || file_->file.size() == open_size_) return;
  open_size_ = file_->file.size();
  if (file_->file.problem().empty()) events_in_file_ = builder_.written();
}

// Every event of a storage says what the storage is; its death, what it was.
void RunTape::fill_in(Event& row, const Waiting& event) {
  row.subject = event.storage.value;
  if (written_.size() <= row.subject) written_.resize(storages_.size());
  Written& known = written_[row.subject];
  if (event.kind == Kind::Alloc) known = {event.bytes, event.category, device_id(event.device)};
  if (event.kind == Kind::Resize) known.bytes = event.bytes;
  if (event.kind == Kind::Relabel) known.category = event.category;
  row.bytes = event.kind == Kind::Block ? event.bytes : known.bytes;
  row.category = known.category;
  row.device = known.device;
}

ScopeId RunTape::scope_here(std::uint32_t thread) {
  if (place_ && place_->scope) return *place_->scope;
  const std::vector<ScopeId>& open = scopes(thread);
  return open.empty() ? ScopeId() : open.back();
}

RunTape::Waiting RunTape::birth(StorageNumber number, const Note& note, Category category,
                                Phase phase) {
  Waiting birth{Kind::Alloc, note.time_ns, StorageId(number),       note.bytes,
                note.device, category,     scope_here(note.thread), phase};
  if (place_) {
    birth.stack = place_->stack;
    birth.call = place_->call;
    birth.stream = place_->stream;
  }
  storage(number) = {birth.storage, birth.bytes, birth.device, category, birth.scope, birth.stack,
                     birth.call,    0,           true};
  return birth;
}

void RunTape::allocated(StorageNumber number, const Note& note, Phase phase) {
  Waiting born = birth(number, note, Category::Unknown, phase);
  born.is_settled = born.is_known = false;
  storage(number).waiting = dequeued_ + queue_.size() + 1;
  enqueue(std::move(born));
}

void RunTape::settled(StorageNumber number, Category category) {
  Storage& settled = storage(number);
  settled.category = category;
  if (is_waiting(settled)) {
    Waiting& birth = birth_of(settled);
    birth.category = category;
    birth.is_settled = true;
    birth.is_known = !holds_;
  }
  if (!holds_) settled.waiting = 0;
  write_known();
}

void RunTape::born(StorageNumber number, const Note& note, Category category, Phase phase) {
  if (holds_) {
    allocated(number, note, phase);
    return settled(number, category);
  }
  enqueue(birth(number, note, category, phase));
}

void RunTape::adopted(StorageNumber number, std::uint8_t device, std::int64_t bytes,
                      Category category) {
  storage(number) = {StorageId(number), bytes, device, category, owner_, {}, {}, 0, true};
  enqueue({Kind::Alloc, 0, storage(number).id, bytes, device, category, owner_});
}

// What a storage turns out to be while its birth waits is true from the birth on.
void RunTape::relabelled(StorageNumber number, Category category) {
  Storage& changed = storage(number);
  const bool is_owned_anew = owner_ && owner_ != changed.scope;
  if (changed.category == category && !is_owned_anew) return;
  changed.category = category;
  if (is_owned_anew) changed.scope = owner_;
  if (!is_waiting(changed)) return enqueue({Kind::Relabel, 0, changed.id, 0, 0, category, owner_});
  birth_of(changed).category = category;
  if (owner_) birth_of(changed).scope = owner_;
}

void RunTape::name_birth(StorageNumber number, CallId call) {
  Storage& named = storage(number);
  if (!is_waiting(named) || birth_of(named).is_settled) return;
  named.call = birth_of(named).call = call;
}

void RunTape::blocked(StorageNumber number, std::int64_t bytes) {
  enqueue({Kind::Block, 0, storage(number).id, bytes});
}

void RunTape::resized(StorageNumber number, std::int64_t bytes) {
  storage(number).bytes = bytes;
  enqueue({Kind::Resize, 0, storage(number).id, bytes});
}

void RunTape::freed(StorageNumber number, std::int64_t time_ns) {
  Storage& dead = storage(number);
  dead.is_alive = false;
  enqueue({Kind::Free, time_ns, dead.id});
}

void RunTape::tell_pool(Kind kind, std::uint8_t device, std::uint32_t pool, std::uint32_t thread,
                        Phase phase) {
  Waiting event{kind, 0, {}, 0, device, Category::Unknown, scope_here(thread), phase};
  event.pool = pool;
  enqueue(std::move(event));
}

void RunTape::begin_scope(std::uint32_t thread, ScopeId scope, Phase phase) {
  scopes(thread).push_back(scope);
  enqueue({Kind::ScopeBegin, 0, {}, 0, 0, Category::Unknown, scope, phase});
}

void RunTape::end_scope(std::uint32_t thread, ScopeId scope, Phase phase) {
  std::vector<ScopeId>& open = scopes(thread);
  const auto last = std::find(open.rbegin(), open.rend(), scope);
  if (last == open.rend()) return;
  open.erase(std::next(last).base());
  enqueue({Kind::ScopeEnd, 0, {}, 0, 0, Category::Unknown, scope, phase});
}

void RunTape::close_scopes(std::uint32_t thread, Phase phase) {
  std::vector<ScopeId>& open = scopes(thread);
  while (!open.empty()) {
    enqueue({Kind::ScopeEnd, 0, {}, 0, 0, Category::Unknown, open.back(), phase});
    open.pop_back();
  }
}

void RunTape::end_optimizer() {
  release();
  holds_ = false;
}

void RunTape::release() {
  for (Waiting& event : queue_) event.is_known |= event.is_settled;
  write_known();
}

std::int64_t RunTape::mark(std::string_view text, std::uint32_t thread, Phase phase) {
  release();
  const auto event = static_cast<std::int64_t>(builder_.size());
  Place place = place_ ? *place_ : Place();
  place.scope = scope_here(thread);
  place.phase = phase;
  try_to([&] { builder_.mark(text, place); });
  return event;
}

std::vector<LiveStorage> RunTape::largest(std::size_t count) const {
  std::vector<const Storage*> alive;
  for (const Storage& one : storages_)
    if (one.is_alive) alive.push_back(&one);
  const std::size_t kept = std::min(count, alive.size());
  std::partial_sort(alive.begin(), alive.begin() + static_cast<std::ptrdiff_t>(kept), alive.end(),
                    [](const Storage* a, const Storage* b) { return a->bytes > b->bytes; });
  const Tables& tables = builder_.tables();
  std::vector<LiveStorage> found;
  for (std::size_t i = 0; i < kept; ++i)
    found.push_back({alive[i]->bytes, options_.device_name(alive[i]->device),
                     std::string(name_of(alive[i]->category)),
                     std::string(tables.scope_path(alive[i]->scope)),
                     std::string(tables.op_name(alive[i]->call)), tables.source(alive[i]->stack)});
  return found;
}

void RunTape::flush() {
  try_to([&] { builder_.flush(); });
}

void RunTape::close(std::uint64_t dropped, bool is_last) {
  if (is_closed_) return;
  for (Waiting& event : queue_) event.is_known = true;
  write_known();
  flush();
  if (!is_last && !file_->file.can_cut()) return;
  // A writer of its own: what this one writes is taken back if the tape goes on.
  TapeWriter last(file_->writer);
  last.finish(builder_.tables(), all_diagnostics(dropped));
  is_closed_ = true;
  if (problem_) std::rethrow_exception(problem_);
}

void RunTape::open_again() {
  if (!is_closed_) return;
  is_closed_ = false;
  file_->file.cut(open_size_);
  write_known();
}

Tape RunTape::finish() {
  for (Waiting& event : queue_) event.is_known = true;
  write_known();
  is_closed_ = true;
  for (const Diagnostic& one : noted_.all())
    builder_.diagnose(one.code, one.severity, one.where, one.message, one.count);
  if (problem_) std::rethrow_exception(problem_);
  return builder_.finish();
}

Diagnostics RunTape::all_diagnostics(std::uint64_t dropped) const {
  Diagnostics all = noted_;
  if (dropped > 0)
    all.add("events-dropped", Severity::Warning, "",
            "events were lost because the ring buffer was full",
            static_cast<std::int64_t>(dropped));
  if (problem_)
    all.add("recording-stopped", Severity::Warning, "event " + std::to_string(events_in_file_),
            "an error of tidemark's own ended the tape here");
  if (file_ && !file_->file.problem().empty())
    all.add("tape-cut", Severity::Warning, "event " + std::to_string(events_in_file_),
            "the file could not be written any more: " + file_->file.problem());
  return all;
}

}  // namespace tidemark::attribution
