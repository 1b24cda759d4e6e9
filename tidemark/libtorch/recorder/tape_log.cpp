// A queue of events in front of a TapeBuilder.
#include "tidemark/libtorch/recorder/tape_log.h"

#include <algorithm>

#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {

namespace {

constexpr std::size_t kMostWaiting = 1 << 16;
constexpr std::size_t kMostInMemory = std::size_t{64} << 20;

}  // namespace

TapeLog::TapeLog(const std::string& path)
    : file_(path, kMostInMemory), writer_(file_), start_ns_(Recorder::now_ns()) {
  builder_.spill_to(writer_, false);
}

DeviceId TapeLog::device_id(std::uint8_t number) {
  if (devices_.size() <= number) devices_.resize(number + 1);
  if (!devices_[number])
    devices_[number] = builder_.tables().device(Recorder::instance().device_name(number));
  return devices_[number];
}

// Threads write notes at the same time, and adopted storages come without one: time never falls.
void TapeLog::enqueue(Waiting&& event) {
  if (event.time_ns == 0) event.time_ns = time_ns_ ? time_ns_ : Recorder::now_ns();
  event.time_ns = std::max(last_ns_, event.time_ns - start_ns_);
  last_ns_ = event.time_ns;
  if (queue_.empty() && event.is_known && !is_closed_) return write(event);
  queue_.push_back(event);
  if (is_closed_) return;
  // A step that never ends must not eat the memory.
  if (queue_.size() > kMostWaiting) release();
  flush();
}

void TapeLog::flush() {
  if (is_closed_) return;
  while (!queue_.empty() && queue_.front().is_known) {
    write(queue_.front());
    queue_.pop_front();
    ++dequeued_;
  }
}

void TapeLog::write(const Waiting& event) {
  Event row;
  row.kind = event.kind;
  row.time_ns = event.time_ns;
  row.scope = event.scope;
  row.phase = event.phase;
  if (event.storage) fill_in(row, event);
  try_to([&] { builder_.append(row); });
}

// Whatever happens, the program goes on, and its storages are followed.
template <class Write>
void TapeLog::try_to(const Write& write) noexcept {
  if (problem_) return;
  try {
    write();
  } catch (...) {
    problem_ = std::current_exception();
  }
  if (file_.size() == open_size_) return;
  open_size_ = file_.size();
  if (file_.problem().empty()) events_in_file_ = builder_.written();
}

// Every event of a storage says what the storage is; its death, what it was.
void TapeLog::fill_in(Event& row, const Waiting& event) {
  row.subject = event.storage.value;
  if (written_.size() <= row.subject) written_.resize(storages_.size());
  Written& known = written_[row.subject];
  if (event.kind == Kind::Alloc) known = {event.bytes, event.category, device_id(event.device)};
  if (event.kind == Kind::Resize) known.bytes = event.bytes;
  if (event.kind == Kind::Relabel) known.category = event.category;
  row.bytes = known.bytes;
  row.category = known.category;
  row.device = known.device;
}

void TapeLog::allocated(StorageNumber number, const Note& note) {
  const Thread& thread = this->thread(note.thread);
  const ScopeId scope = thread.scopes.empty() ? ScopeId() : thread.scopes.back();
  Storage& born = storage(number);
  born = {StorageId(number),
          note.bytes,
          note.device,
          Category::Unknown,
          scope,
          dequeued_ + queue_.size() + 1,
          true};
  enqueue({Kind::Alloc, note.time_ns, born.id, note.bytes, note.device, Category::Unknown, scope,
           thread.phase, false});
}

void TapeLog::settled(StorageNumber number, Category category) {
  Storage& settled = storage(number);
  settled.category = category;
  if (is_waiting(settled)) {
    birth_of(settled).category = category;
    birth_of(settled).is_known = !holds_;
  }
  if (!holds_) settled.waiting = 0;
  flush();
}

void TapeLog::born(StorageNumber number, const Note& note, Category category) {
  if (holds_ || !queue_.empty()) {
    allocated(number, note);
    return settled(number, category);
  }
  const Thread& here = thread(note.thread);
  const ScopeId scope = here.scopes.empty() ? ScopeId() : here.scopes.back();
  storage(number) = {StorageId(number), note.bytes, note.device, category, scope, 0, true};
  enqueue({Kind::Alloc, note.time_ns, StorageId(number), note.bytes, note.device, category, scope,
           here.phase});
}

void TapeLog::adopted(StorageNumber number, std::uint8_t device, std::int64_t bytes,
                      Category category) {
  storage(number) = {StorageId(number), bytes, device, category, owner_, 0, true};
  enqueue({Kind::Alloc, 0, storage(number).id, bytes, device, category, owner_});
}

void TapeLog::relabelled(StorageNumber number, Category category) {
  Storage& changed = storage(number);
  changed.category = category;
  if (is_waiting(changed)) birth_of(changed).category = category;
  else enqueue({Kind::Relabel, 0, changed.id, 0, 0, category, owner_});
}

void TapeLog::resized(StorageNumber number, std::int64_t bytes) {
  storage(number).bytes = bytes;
  enqueue({Kind::Resize, 0, storage(number).id, bytes});
}

void TapeLog::freed(StorageNumber number, std::int64_t time_ns) {
  Storage& dead = storage(number);
  dead.is_alive = false;
  enqueue({Kind::Free, time_ns, dead.id});
}

void TapeLog::begin_scope(std::uint32_t thread, ScopeId scope, Phase phase) {
  this->thread(thread).scopes.push_back(scope);
  this->thread(thread).phase = phase;
  enqueue({Kind::ScopeBegin, 0, {}, 0, 0, Category::Unknown, scope, phase});
}

void TapeLog::end_scope(std::uint32_t thread, ScopeId scope, Phase phase) {
  auto& open = this->thread(thread).scopes;
  const auto last = std::find(open.rbegin(), open.rend(), scope);
  if (last == open.rend()) return;
  open.erase(std::next(last).base());
  enqueue({Kind::ScopeEnd, 0, {}, 0, 0, Category::Unknown, scope, phase});
}

void TapeLog::close_scopes(std::uint32_t thread, Phase phase) {
  Thread& here = this->thread(thread);
  while (!here.scopes.empty()) {
    enqueue({Kind::ScopeEnd, 0, {}, 0, 0, Category::Unknown, here.scopes.back(), phase});
    here.scopes.pop_back();
  }
  here.phase = Phase::Other;
}

void TapeLog::set_phase(std::uint32_t thread, Phase phase) { this->thread(thread).phase = phase; }

void TapeLog::begin_optimizer(std::uint32_t thread) {
  set_phase(thread, Phase::Optimizer);
  holds_ = true;
}

void TapeLog::end_optimizer(std::uint32_t thread) {
  set_phase(thread, Phase::Other);
  release();
  holds_ = false;
}

void TapeLog::begin_step() { enqueue({Kind::Step}); }

void TapeLog::release() {
  for (Waiting& event : queue_) event.is_known |= event.category != Category::Unknown;
  flush();
}

void TapeLog::set_owner(const std::string& path) {
  owner_ = path.empty() ? ScopeId() : builder_.tables().scope(path);
}

std::int64_t TapeLog::mark(const std::string& text) {
  flush();
  const auto event = static_cast<std::int64_t>(builder_.size());
  const Thread& here = thread(this_thread().id);
  tidemark::Place place;
  place.scope = here.scopes.empty() ? ScopeId() : here.scopes.back();
  place.phase = here.phase;
  try_to([&] { builder_.mark(text, place); });
  return event;
}

std::vector<LiveStorage> TapeLog::largest(std::size_t count) const {
  std::vector<const Storage*> alive;
  for (const Storage& one : storages_)
    if (one.is_alive) alive.push_back(&one);
  const std::size_t kept = std::min(count, alive.size());
  std::partial_sort(alive.begin(), alive.begin() + static_cast<std::ptrdiff_t>(kept), alive.end(),
                    [](const Storage* a, const Storage* b) { return a->bytes > b->bytes; });
  std::vector<LiveStorage> found;
  for (std::size_t i = 0; i < kept; ++i)
    found.push_back({alive[i]->bytes, Recorder::instance().device_name(alive[i]->device),
                     std::string(name_of(alive[i]->category)),
                     std::string(builder_.tables().scope_path(alive[i]->scope))});
  return found;
}

void TapeLog::close(std::uint64_t dropped, bool is_last) {
  if (is_closed_) return;
  for (Waiting& event : queue_) event.is_known = true;
  flush();
  try_to([&] { builder_.flush(); });
  if (!is_last && !file_.can_cut()) return;
  // A writer of its own: what this one writes is taken back if the tape goes on.
  TapeWriter last(writer_);
  last.finish(builder_.tables(), all_diagnostics(dropped));
  is_closed_ = true;
  if (problem_) std::rethrow_exception(problem_);
}

void TapeLog::open_again() {
  if (!is_closed_) return;
  is_closed_ = false;
  file_.cut(open_size_);
  flush();
}

Diagnostics TapeLog::all_diagnostics(std::uint64_t dropped) const {
  Diagnostics all = noted_;
  if (dropped > 0)
    all.add("events-dropped", Severity::Warning, "",
            "events were lost because the ring buffer was full",
            static_cast<std::int64_t>(dropped));
  if (problem_)
    all.add("recording-stopped", Severity::Warning, "event " + std::to_string(events_in_file_),
            "an error of tidemark's own ended the tape here");
  if (!file_.problem().empty())
    all.add("tape-cut", Severity::Warning, "event " + std::to_string(events_in_file_),
            "the file could not be written any more: " + file_.problem());
  return all;
}

}  // namespace tidemark::recorder
