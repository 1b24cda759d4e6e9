// Writes a tape event by event: what every source uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tidemark/engine/tape/history.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

class TapeWriter;

// Where an event happens; an empty id means "not known".
struct Place {
  CallId call;
  StackId stack;
  StreamId stream;
  std::optional<ScopeId> scope;  // left out: the innermost open one
  std::optional<Phase> phase;    // left out: the phase of the builder
};

// Irregular events (a double free) are written as they come: `verify` and replay name them. An id
// that is not of this builder's tables throws Error(BadArgument). A call that throws an Error has
// written nothing and changed nothing. Not for several threads at once.
class TapeBuilder {
 public:
  Tables& tables() { return tables_; }
  const Tables& tables() const { return tables_; }
  std::size_t size() const { return spilled_ + events_.size(); }
  // How many of them were handed to the writer.
  std::size_t written() const { return spilled_ + written_; }

  // The time of the next event. Without it each event is one nanosecond after the last.
  void set_time(std::int64_t time_ns) { history_.set_time(time_ns); }
  Phase phase() const { return history_.phase(); }
  ScopeId innermost_scope() const { return history_.open().innermost(); }
  const StorageStates& storages() const { return history_.storages(); }

  StorageId alloc(DeviceId device, std::int64_t bytes, Category category = Category::Unknown,
                  const Place& place = {});
  void free(StorageId storage, const Place& place = {});
  void resize(StorageId storage, std::int64_t bytes, const Place& place = {});
  void relabel(StorageId storage, Category category, const Place& place = {});
  // The allocator has given it a larger block than its device rounds to.
  void block(StorageId storage, std::int64_t bytes, const Place& place = {});
  void input(StorageId storage, const Place& place = {});
  void output(StorageId storage, const Place& place = {});

  void begin_scope(ScopeId scope, const Place& place = {});
  void end_scope(ScopeId scope, const Place& place = {});
  void begin_call(CallId call, const Place& place = {});
  void end_call(CallId call, const Place& place = {});
  void set_phase(Phase phase, const Place& place = {});
  void begin_step(const Place& place = {});
  void mark(std::string_view text, const Place& place = {});
  void map_segment(DeviceId device, std::uint32_t segment, std::int64_t bytes,
                   const Place& place = {});
  void unmap_segment(DeviceId device, std::uint32_t segment, std::int64_t bytes,
                     const Place& place = {});

  // Pools of a device's allocator: births come from this one from here on, 0 being the one that all
  // share; nobody uses it any more; what is free goes back to the device, of one pool or (0) all.
  void use_pool(DeviceId device, std::uint32_t pool, const Place& place = {});
  void release_pool(DeviceId device, std::uint32_t pool, const Place& place = {});
  void empty_cache(DeviceId device, std::uint32_t pool = 0, const Place& place = {});

  // A number for a storage that will be named before it is born, or never is. At most
  // kStoragesAhead numbers may be ahead of the events: readers take higher ones for damage.
  StorageId new_storage();
  // Births a storage under a number of the caller's, or of new_storage().
  void alloc_as(StorageId storage, DeviceId device, std::int64_t bytes, Category category,
                const Place& place = {});
  // A row as a call above would write it now, for a source that has more to say; then write it.
  Event draft(Kind kind, const Place& place, std::uint32_t subject = Event().subject) const;
  void write(const Event& row);
  // Writes a row of a source that keeps the histories of its storages itself: nothing is filled in,
  // and nothing is kept but the row. Not to be mixed with the calls above that fill in.
  void append(const Event& row);
  void diagnose(std::string_view code, Severity severity, std::string where, std::string message,
                std::int64_t count = 1);

  // Sends each full block of events to a file as it comes. `keep` also keeps them for finish();
  // without it memory stays flat and finish() returns only what was not yet written.
  void spill_to(TapeWriter& writer, bool keep);
  // Writes what is not yet in the file, full block or not.
  void flush();
  // Ends the tape (and the file, when spilling). The builder is empty afterwards.
  Tape finish();

  // The row that the last call wrote: what live accumulators are fed with.
  const Event& last() const { return last_; }

 private:
  void write_pool(Kind kind, DeviceId device, std::uint32_t pool, const Place& place);
  void check_place(const Event& row) const;
  void check(const Event& row) const;
  void spill(std::size_t least);

  Tables tables_;
  EventColumns events_;
  Diagnostics diagnostics_;
  History history_;
  Event last_;
  std::uint32_t storage_count_ = 0;
  TapeWriter* writer_ = nullptr;
  bool keep_ = true;
  std::size_t written_ = 0;  // rows of events_ already in the file
  std::size_t spilled_ = 0;  // rows dropped from events_ after writing
};

}  // namespace tidemark
