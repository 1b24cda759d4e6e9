// Writes what attribution understands to a tape: storages, module calls, phases, steps.
//
// Numbers of dead storages are used again, so that a run of any length needs the memory of what is
// alive. What a storage is becomes known when its operator ends, so events wait in a queue until
// all before them are known; that is never longer than an operator.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/file_writer.h"
#include "tidemark/libtorch/attribution/listener.h"
#include "tidemark/libtorch/run_file.h"

namespace tidemark::recorder {

using attribution::Note;
using attribution::StorageNumber;

// One storage that is alive, as a report names it.
struct LiveStorage {
  std::int64_t bytes;
  std::string device, category, scope;
};

class TapeLog final : public attribution::Listener {
 public:
  // Events go to the file as they come, and memory stays flat: should the disk be full, some 64 MiB
  // of the rest are kept.
  explicit TapeLog(const std::string& path);

  void allocated(StorageNumber storage, const Note& note) override;
  void settled(StorageNumber storage, Category category) override;
  void born(StorageNumber storage, const Note& note, Category category) override;
  void adopted(StorageNumber storage, std::uint8_t device, std::int64_t bytes,
               Category category) override;
  void relabelled(StorageNumber storage, Category category) override;
  void resized(StorageNumber storage, std::int64_t bytes) override;
  void freed(StorageNumber storage, std::int64_t time_ns) override;

  // The time of what comes next; 0 for now.
  void set_time(std::int64_t time_ns) { time_ns_ = time_ns; }
  // What the thread does from here on.
  ScopeId scope(const std::string& path) { return builder_.tables().scope(path); }
  void begin_scope(std::uint32_t thread, ScopeId scope, Phase phase);
  void end_scope(std::uint32_t thread, ScopeId scope, Phase phase);
  // Ends what is still open on the thread.
  void close_scopes(std::uint32_t thread, Phase phase);
  void set_phase(std::uint32_t thread, Phase phase);
  // Between the two, what is born waits: only after an optimizer's step is it known what of it is
  // state.
  void begin_optimizer(std::uint32_t thread);
  void end_optimizer(std::uint32_t thread);
  void begin_step();
  // The module that storages made known from here on belong to; empty for none.
  void set_owner(const std::string& path);
  // What the reader of the tape must know of how it was made.
  void diagnose(const std::string& code, const std::string& message) {
    noted_.add(code, Severity::Warning, "", message);
  }
  // Returns the event's number.
  std::int64_t mark(const std::string& text);
  // What the tape says of the run as a whole.
  void set_meta(const std::string& key, const std::string& value) {
    builder_.tables().set_meta(key, value);
  }

  std::size_t events() const { return builder_.size(); }
  // Alive now, the largest first.
  std::vector<LiveStorage> largest(std::size_t count) const;
  // Makes the file whole. What comes then waits until the tape is opened again; whoever is done for
  // good says so, for files that take nothing back. Throws, after the file's end, what went wrong
  // with writing, if anything did but the disk.
  void close(std::uint64_t dropped, bool is_last);
  void open_again();
  const RunFile& file() const { return file_; }
  // Events that are in the file; all of them, unless the disk was full.
  std::size_t events_in_file() const { return events_in_file_; }

 private:
  struct Storage {
    StorageId id;
    std::int64_t bytes = 0;
    std::uint8_t device = 0;
    Category category = Category::Unknown;
    ScopeId scope;
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
    bool is_known = true;
  };
  struct Written {  // a storage as the events in the file have it
    std::int64_t bytes = 0;
    Category category = Category::Unknown;
    DeviceId device;
  };
  struct Thread {
    std::vector<ScopeId> scopes;
    Phase phase = Phase::Other;
  };

  Storage& storage(StorageNumber number) {
    if (storages_.size() <= number) [[unlikely]]
      storages_.resize(number + 1);
    return storages_[number];
  }
  Thread& thread(std::uint32_t number) {
    if (threads_.size() <= number) [[unlikely]]
      threads_.resize(number + 1);
    return threads_[number];
  }
  void enqueue(Waiting&& event);
  bool is_waiting(const Storage& storage) const { return storage.waiting > dequeued_; }
  Waiting& birth_of(const Storage& storage) { return queue_[storage.waiting - dequeued_ - 1]; }
  void release();
  void flush();
  void write(const Waiting& event);
  template <class Write>
  void try_to(const Write& write) noexcept;
  Diagnostics all_diagnostics(std::uint64_t dropped) const;
  void fill_in(Event& row, const Waiting& event);
  DeviceId device_id(std::uint8_t number);

  RunFile file_;
  TapeWriter writer_;
  TapeBuilder builder_;
  std::vector<Storage> storages_;
  std::vector<Written> written_;
  std::vector<Thread> threads_;  // by number
  std::vector<DeviceId> devices_;
  std::deque<Waiting> queue_;
  std::size_t dequeued_ = 0;
  bool holds_ = false, is_closed_ = false;
  std::uint64_t open_size_ = 0;  // of the file, before it was made whole
  std::size_t events_in_file_ = 0;
  ScopeId owner_;
  std::int64_t start_ns_, last_ns_ = 0, time_ns_ = 0;
  std::exception_ptr problem_;
  Diagnostics noted_;
};

}  // namespace tidemark::recorder
