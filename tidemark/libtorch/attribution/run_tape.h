// Writes what attribution understands to a tape: storages, module calls, phases, steps.
//
// Numbers of dead storages are used again, so that a run of any length needs the memory of what is
// alive. What a storage is becomes known when its operator ends, or the optimizer's step, so events
// wait in a queue until all before them are known.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/file_writer.h"
#include "tidemark/libtorch/attribution/listener.h"
#include "tidemark/libtorch/attribution/run_file.h"

namespace tidemark::attribution {

// One storage that is alive, as a report names it.
struct LiveStorage {
  std::int64_t bytes;
  std::string device, category, scope, op, source;
};

struct TapeOptions {
  std::string path;           // events go to this file as they come; empty for none
  bool keeps_events = false;  // they stay in memory, too, for finish()
  std::function<std::string(std::uint8_t)> device_name;  // of the numbers in notes
};

class RunTape final : public Listener {
 public:
  // Without `keeps_events` memory stays flat: should the disk be full, some 64 MiB of the rest are
  // kept.
  explicit RunTape(TapeOptions options);

  void allocated(StorageNumber storage, const Note& note, Phase phase) override;
  void settled(StorageNumber storage, Category category) override;
  void born(StorageNumber storage, const Note& note, Category category, Phase phase) override;
  void adopted(StorageNumber storage, std::uint8_t device, std::int64_t bytes,
               Category category) override;
  void relabelled(StorageNumber storage, Category category) override;
  void blocked(StorageNumber storage, std::int64_t bytes) override;
  void resized(StorageNumber storage, std::int64_t bytes) override;
  void freed(StorageNumber storage, std::int64_t time_ns) override;

  // Of what comes next: its time (0 for now), and where it happens, as far as the source knows.
  void set_time(std::int64_t time_ns) { time_ns_ = time_ns; }
  void set_place(const Place* place) { place_ = place; }
  // What the thread does from here on.
  void begin_scope(std::uint32_t thread, ScopeId scope, Phase phase);
  void end_scope(std::uint32_t thread, ScopeId scope, Phase phase);
  // Ends what is still open on the thread.
  void close_scopes(std::uint32_t thread, Phase phase);
  // Between the two, what is born waits: only after an optimizer's step is it known what of it is
  // state.
  void begin_optimizer() { holds_ = true; }
  void end_optimizer();
  void begin_step() { enqueue({Kind::Step}); }
  // What the program's thread does with a pool of a device's allocator.
  void tell_pool(Kind kind, std::uint8_t device, std::uint32_t pool, std::uint32_t thread,
                 Phase phase);
  // The module that storages made known from here on belong to; empty for none.
  void set_owner(ScopeId scope) { owner_ = scope; }
  // What the reader of the tape must know of how it was made.
  void diagnose(std::string_view code, Severity severity, std::string where, std::string message) {
    noted_.add(code, severity, std::move(where), std::move(message));
  }
  const Diagnostics& diagnostics() const { return noted_; }
  // The operator of a storage's birth, as long as nobody has said what the storage is.
  void name_birth(StorageNumber number, CallId call);
  // Returns the event's number.
  std::int64_t mark(std::string_view text, std::uint32_t thread, Phase phase);

  Tables& tables() { return builder_.tables(); }
  const Tables& tables() const { return builder_.tables(); }
  std::string device_name(std::uint8_t number) const { return options_.device_name(number); }
  // All so far, those that wait among them.
  std::size_t events() const { return builder_.size() + queue_.size(); }
  // Alive now, the largest first.
  std::vector<LiveStorage> largest(std::size_t count) const;

  // What a killed process must not lose is in the file then.
  void flush();
  // Makes the file whole. What comes then waits until the tape is opened again; whoever is done for
  // good says so, for files that take nothing back. Throws, after the file's end, what went wrong
  // with writing, if anything did but the disk.
  void close(std::uint64_t dropped, bool is_last);
  void open_again();
  // Ends the tape, and its file; for those that keep their events.
  Tape finish();
  const RunFile* file() const { return file_ ? &file_->file : nullptr; }
  // Events that are in the file; all of them, unless the disk was full.
  std::size_t events_in_file() const { return events_in_file_; }

 private:
  struct Storage {
    StorageId id;
    std::int64_t bytes = 0;
    std::uint8_t device = 0;
    Category category = Category::Unknown;
    ScopeId scope;
    StackId stack;
    CallId call;
    std::size_t waiting = 0;  // the number of its birth in the queue, while that waits; from 1
    bool is_alive = false;
  };
  struct Waiting {
    Kind kind;
    std::int64_t time_ns = 0;
    StorageId storage;
    std::int64_t bytes = 0;
    std::uint8_t device = 0;
    Category category = Category::Unknown;
    ScopeId scope;
    Phase phase = Phase::Other;
    StackId stack = {};
    CallId call = {};
    StreamId stream = {};
    std::uint32_t pool = 0;
    bool is_settled = true;  // what it is was said
    bool is_known = true;    // and will not be said otherwise
  };
  struct Written {  // a storage as the events in the file have it
    std::int64_t bytes = 0;
    Category category = Category::Unknown;
    DeviceId device;
  };
  struct File {
    File(const std::string& path, std::size_t most_in_memory)
        : file(path, most_in_memory), writer(file) {}
    RunFile file;
    TapeWriter writer;
  };

  Storage& storage(StorageNumber number) {
    if (storages_.size() <= number) [[unlikely]]
      storages_.resize(number + 1);
    return storages_[number];
  }
  std::vector<ScopeId>& scopes(std::uint32_t thread) {
    if (scopes_.size() <= thread) [[unlikely]]
      scopes_.resize(thread + 1);
    return scopes_[thread];
  }
  ScopeId scope_here(std::uint32_t thread);
  Waiting birth(StorageNumber number, const Note& note, Category category, Phase phase);
  void enqueue(Waiting&& event);
  bool is_waiting(const Storage& storage) const { return storage.waiting > dequeued_; }
  Waiting& birth_of(const Storage& storage) { return queue_[storage.waiting - dequeued_ - 1]; }
  void release();
  void write_known();
  void write(const Waiting& event);
  template <class Write>
  void try_to(const Write& write) noexcept;
  Diagnostics all_diagnostics(std::uint64_t dropped) const;
  void fill_in(Event& row, const Waiting& event);
  DeviceId device_id(std::uint8_t number);

  const TapeOptions options_;
  std::unique_ptr<File> file_;
  TapeBuilder builder_;
  std::vector<Storage> storages_;
  std::vector<Written> written_;
  std::vector<std::vector<ScopeId>> scopes_;  // open ones by thread, outermost first
  std::vector<DeviceId> devices_;
  std::deque<Waiting> queue_;
  std::size_t dequeued_ = 0;
  bool holds_ = false, is_closed_ = false;
  std::uint64_t open_size_ = 0;  // of the file, before it was made whole
  std::size_t events_in_file_ = 0;
  ScopeId owner_;
  const Place* place_ = nullptr;
  std::int64_t start_ns_, last_ns_ = 0, time_ns_ = 0, flushed_ns_ = 0;
  std::exception_ptr problem_;
  Diagnostics noted_;
};

}  // namespace tidemark::attribution
