// Fills event rows from calls, and hands full blocks to a writer.
#include "tidemark/engine/tape/builder.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/file_writer.h"

namespace tidemark {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(ErrorCode::BadArgument,
              std::string("an event names ") + what + " that its tape does not know");
}

inline void expect_known(bool known, const char* what) {
  if (!known) [[unlikely]]
    refuse(what);
}

template <class IdType, class Rows>
bool is_row(IdType id, const Rows& rows) {
  return id.value < rows.size();
}

}  // namespace

// A wrong id would be met much later, by whoever reads the tape.
void TapeBuilder::check_place(const Event& row) const {
  expect_known(!row.scope || is_row(row.scope, tables_.scopes()), "a scope");
  expect_known(!row.stack || is_row(row.stack, tables_.stacks()), "a stack");
  expect_known(!row.call || is_row(row.call, tables_.calls()), "a call");
  expect_known(!row.stream || is_row(row.stream, tables_.streams()), "a stream");
}

void TapeBuilder::check(const Event& row) const {
  check_place(row);
  const bool may_lack_device = !row.device && !needs_device(row.kind);
  expect_known(may_lack_device || is_row(row.device, tables_.devices()), "a device");
  if (is_about_storage(row.kind)) expect_known(row.subject < size() + kStoragesAhead, "a storage");
  if (row.kind == Kind::Mark) expect_known(row.subject < tables_.strings.size(), "a text");
}

Event TapeBuilder::draft(Kind kind, const Place& place, std::uint32_t subject) const {
  Event row = history_.usual(kind, subject);
  if (place.phase) row.phase = *place.phase;
  if (place.scope) row.scope = *place.scope;
  row.stack = place.stack;
  row.stream = place.stream;
  row.call = place.call;
  return row;
}

// Whatever can fail comes before the first change. So a full block is written when the next event
// comes: a disk that is full then has not got that event.
void TapeBuilder::append(const Event& row) {
  check(row);
  if (writer_ && events_.size() - written_ >= kBlockEvents) spill(kBlockEvents);
  events_.push(row);
  last_ = row;
  history_.pass_time(row);
}

void TapeBuilder::write(const Event& row) {
  append(row);
  history_.learn(row);
  if (is_about_storage(row.kind)) storage_count_ = std::max(storage_count_, row.subject + 1);
}

StorageId TapeBuilder::new_storage() { return StorageId(storage_count_++); }

StorageId TapeBuilder::alloc(DeviceId device, std::int64_t bytes, Category category,
                             const Place& place) {
  const StorageId storage(storage_count_);
  alloc_as(storage, device, bytes, category, place);
  return storage;
}

void TapeBuilder::alloc_as(StorageId storage, DeviceId device, std::int64_t bytes,
                           Category category, const Place& place) {
  Event row = draft(Kind::Alloc, place, storage.value);
  row.bytes = bytes;
  row.category = category;
  row.device = device;
  write(row);
}

void TapeBuilder::free(StorageId storage, const Place& place) {
  write(draft(Kind::Free, place, storage.value));
}

void TapeBuilder::resize(StorageId storage, std::int64_t bytes, const Place& place) {
  Event row = draft(Kind::Resize, place, storage.value);
  row.bytes = bytes;
  write(row);
}

void TapeBuilder::relabel(StorageId storage, Category category, const Place& place) {
  Event row = draft(Kind::Relabel, place, storage.value);
  row.category = category;
  write(row);
}

void TapeBuilder::block(StorageId storage, std::int64_t bytes, const Place& place) {
  Event row = draft(Kind::Block, place, storage.value);
  row.bytes = bytes;
  write(row);
}

void TapeBuilder::input(StorageId storage, const Place& place) {
  write(draft(Kind::Input, place, storage.value));
}

void TapeBuilder::output(StorageId storage, const Place& place) {
  write(draft(Kind::Output, place, storage.value));
}

void TapeBuilder::begin_scope(ScopeId scope, const Place& place) {
  expect_known(is_row(scope, tables_.scopes()), "a scope");
  Event row = draft(Kind::ScopeBegin, place);
  row.scope = scope;
  write(row);
}

void TapeBuilder::end_scope(ScopeId scope, const Place& place) {
  expect_known(is_row(scope, tables_.scopes()), "a scope");
  Event row = draft(Kind::ScopeEnd, place);
  row.scope = scope;
  write(row);
}

void TapeBuilder::begin_call(CallId call, const Place& place) {
  expect_known(is_row(call, tables_.calls()), "a call");
  Event row = draft(Kind::CallBegin, place);
  row.call = call;
  write(row);
}

void TapeBuilder::end_call(CallId call, const Place& place) {
  expect_known(is_row(call, tables_.calls()), "a call");
  Event row = draft(Kind::CallEnd, place);
  row.call = call;
  write(row);
}

void TapeBuilder::set_phase(Phase phase, const Place& place) {
  Event row = draft(Kind::Phase, place);
  row.phase = phase;
  write(row);
}

void TapeBuilder::begin_step(const Place& place) { write(draft(Kind::Step, place)); }

void TapeBuilder::mark(std::string_view text, const Place& place) {
  Event row = draft(Kind::Mark, place);
  check_place(row);  // before the text becomes a row of its table
  row.subject = tables_.strings.intern(text).value;
  write(row);
}

void TapeBuilder::map_segment(DeviceId device, std::uint32_t segment, std::int64_t bytes,
                              const Place& place) {
  Event row = draft(Kind::SegmentMap, place, segment);
  row.device = device;
  row.bytes = bytes;
  write(row);
}

void TapeBuilder::unmap_segment(DeviceId device, std::uint32_t segment, std::int64_t bytes,
                                const Place& place) {
  Event row = draft(Kind::SegmentUnmap, place, segment);
  row.device = device;
  row.bytes = bytes;
  write(row);
}

void TapeBuilder::write_pool(Kind kind, DeviceId device, std::uint32_t pool, const Place& place) {
  Event row = draft(kind, place, pool);
  row.device = device;
  write(row);
}

void TapeBuilder::use_pool(DeviceId device, std::uint32_t pool, const Place& place) {
  write_pool(Kind::PoolUse, device, pool, place);
}

void TapeBuilder::release_pool(DeviceId device, std::uint32_t pool, const Place& place) {
  write_pool(Kind::PoolRelease, device, pool, place);
}

void TapeBuilder::empty_cache(DeviceId device, std::uint32_t pool, const Place& place) {
  write_pool(Kind::CacheEmpty, device, pool, place);
}

void TapeBuilder::diagnose(std::string_view code, Severity severity, std::string where,
                           std::string message, std::int64_t count) {
  diagnostics_.add(code, severity, std::move(where), std::move(message), count);
}

void TapeBuilder::spill_to(TapeWriter& writer, bool keep) {
  writer_ = &writer;
  keep_ = keep;
}

void TapeBuilder::spill(std::size_t least) {
  while (events_.size() - written_ >= least && events_.size() > written_) {
    const std::size_t count = std::min(kBlockEvents, events_.size() - written_);
    writer_->write(tables_, events_, written_, count);
    written_ += count;
  }
  if (keep_ || written_ < events_.size()) return;
  spilled_ += written_;
  written_ = 0;
  events_.clear();
}

void TapeBuilder::flush() {
  if (!writer_) return;
  spill(1);
  writer_->flush();
}

Tape TapeBuilder::finish() {
  if (writer_) {
    spill(1);
    writer_->finish(tables_, diagnostics_);
  }
  TapeBuilder done;
  std::swap(done, *this);
  return Tape(std::move(done.tables_), std::move(done.events_), std::move(done.diagnostics_));
}

}  // namespace tidemark
