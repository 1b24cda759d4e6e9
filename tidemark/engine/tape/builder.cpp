// Fills event rows from calls, and hands full blocks to a writer.
#include "tidemark/engine/tape/builder.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/tape/file_writer.h"

namespace tidemark {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(ErrorCode::BadArgument,
              std::string("an event names ") + what + " that its tape does not know");
}

inline void expect_known(bool known, const char* what) {
  if (!known) [[unlikely]] refuse(what);
}

template <class IdType, class Rows>
bool is_row(IdType id, const Rows& rows) {
  return id.value < rows.size();
}

}  // namespace

// A wrong id would be met much later, by whoever reads the tape.
void TapeBuilder::check_ids(const Event& row) const {
  expect_known(!row.scope || is_row(row.scope, tables_.scopes()), "a scope");
  expect_known(!row.stack || is_row(row.stack, tables_.stacks()), "a stack");
  expect_known(!row.call || is_row(row.call, tables_.calls()), "a call");
  expect_known(!row.stream || is_row(row.stream, tables_.streams()), "a stream");
  expect_known(!row.device || is_row(row.device, tables_.devices()), "a device");
}

void TapeBuilder::write(Kind kind, const Place& place, Event row) {
  row.kind = kind;
  row.time_ns = next_time_ns_;
  row.phase = place.phase.value_or(phase_);
  row.stack = place.stack;
  row.stream = place.stream;
  if (!row.call) row.call = place.call;
  if (!row.scope) row.scope = place.scope.value_or(innermost_scope());
  append(row);
}

void TapeBuilder::append(const Event& row) {
  check_ids(row);
  events_.push(row);
  last_ = row;
  next_time_ns_ = add_saturating(row.time_ns, 1);
  if (writer_ && events_.size() - written_ >= kBlockEvents) spill(kBlockEvents);
}

// Fills in what the storage's history says: a free carries the size, device and category it ends.
void TapeBuilder::write_storage(Kind kind, StorageId storage, Event row, const Place& place) {
  expect_known(storage.value < size() + kBlockEvents, "a storage");
  storage_count_ = std::max(storage_count_, storage.value + 1);
  row.kind = kind;
  row.subject = storage.value;
  const StorageChange change = storages_.apply(row);
  if (kind != Kind::Alloc) {
    const StorageState& known = kind == Kind::Free ? change.before : change.after;
    row.device = known.device;
    if (kind != Kind::Resize) row.bytes = known.bytes;
    if (kind != Kind::Relabel) row.category = known.category;
  }
  write(kind, place, row);
}

StorageId TapeBuilder::new_storage() { return StorageId(storage_count_++); }

StorageId TapeBuilder::alloc(DeviceId device, std::int64_t bytes, Category category,
                             const Place& place) {
  const StorageId storage = new_storage();
  alloc_as(storage, device, bytes, category, place);
  return storage;
}

void TapeBuilder::alloc_as(StorageId storage, DeviceId device, std::int64_t bytes,
                           Category category, const Place& place) {
  expect_known(is_row(device, tables_.devices()), "a device");
  Event row;
  row.bytes = bytes;
  row.category = category;
  row.device = device;
  write_storage(Kind::Alloc, storage, row, place);
}

void TapeBuilder::free(StorageId storage, const Place& place) {
  write_storage(Kind::Free, storage, {}, place);
}

void TapeBuilder::resize(StorageId storage, std::int64_t bytes, const Place& place) {
  Event row;
  row.bytes = bytes;
  write_storage(Kind::Resize, storage, row, place);
}

void TapeBuilder::relabel(StorageId storage, Category category, const Place& place) {
  Event row;
  row.category = category;
  write_storage(Kind::Relabel, storage, row, place);
}

void TapeBuilder::input(StorageId storage, const Place& place) {
  write_storage(Kind::Input, storage, {}, place);
}

void TapeBuilder::output(StorageId storage, const Place& place) {
  write_storage(Kind::Output, storage, {}, place);
}

void TapeBuilder::begin_scope(ScopeId scope, const Place& place) {
  expect_known(is_row(scope, tables_.scopes()), "a scope");
  Event row;
  row.scope = scope;
  write(Kind::ScopeBegin, place, row);
  open_.begin(scope, last_.phase, static_cast<std::int64_t>(size()) - 1);
}

void TapeBuilder::end_scope(ScopeId scope, const Place& place) {
  expect_known(is_row(scope, tables_.scopes()), "a scope");
  Event row;
  row.scope = scope;
  write(Kind::ScopeEnd, place, row);
  const OpenCalls::Slot meant = open_.meant(scope, last_.phase);
  if (meant != OpenCalls::kNone) open_.end(meant);
}

void TapeBuilder::begin_call(CallId call, const Place& place) {
  expect_known(is_row(call, tables_.calls()), "a call");
  Event row;
  row.call = call;
  write(Kind::CallBegin, place, row);
}

void TapeBuilder::end_call(CallId call, const Place& place) {
  expect_known(is_row(call, tables_.calls()), "a call");
  Event row;
  row.call = call;
  write(Kind::CallEnd, place, row);
}

void TapeBuilder::set_phase(Phase phase, Place place) {
  phase_ = phase;
  place.phase = phase;
  write(Kind::Phase, place, {});
}

void TapeBuilder::begin_step(const Place& place) { write(Kind::Step, place, {}); }

void TapeBuilder::mark(std::string_view text, const Place& place) {
  Event row;
  row.subject = tables_.strings.intern(text).value;
  write(Kind::Mark, place, row);
}

void TapeBuilder::map_segment(DeviceId device, std::uint32_t segment, std::int64_t bytes,
                              const Place& place) {
  expect_known(is_row(device, tables_.devices()), "a device");
  Event row;
  row.device = device;
  row.subject = segment;
  row.bytes = bytes;
  write(Kind::SegmentMap, place, row);
}

void TapeBuilder::unmap_segment(DeviceId device, std::uint32_t segment, std::int64_t bytes,
                                const Place& place) {
  expect_known(is_row(device, tables_.devices()), "a device");
  Event row;
  row.device = device;
  row.subject = segment;
  row.bytes = bytes;
  write(Kind::SegmentUnmap, place, row);
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
