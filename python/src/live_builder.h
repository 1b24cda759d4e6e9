// A builder that tells accumulators of every event it writes: what Python calls TapeBuilder.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/file_writer.h"

namespace tidemark::python {

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void add(const Event& event) = 0;
  // The builder is about to empty its tables: the last chance to answer.
  virtual void finish() = 0;
};

class LiveBuilder {
 public:
  const TapeBuilder& builder() const { return builder_; }
  Tables& tables() { return builder_.tables(); }

  // Runs `event` on the builder, then shows watchers the row it wrote.
  template <class Write>
  auto write(Write&& event) {
    if constexpr (std::is_void_v<std::invoke_result_t<Write, TapeBuilder&>>) {
      event(builder_);
      tell();
    } else {
      auto result = event(builder_);
      tell();
      return result;
    }
  }

  // The watcher belongs to its caller: it is forgotten when nobody else holds it. Throws Error
  // after the first event, because half a run has no peak.
  void watch(const std::shared_ptr<Watcher>& watcher);

  void set_time(std::int64_t time_ns) { builder_.set_time(time_ns); }
  void diagnose(const Diagnostic& problem);
  StorageId new_storage() { return builder_.new_storage(); }

  void spill_to(const std::string& path, bool keep, const Codec* codec);
  void flush() { builder_.flush(); }
  Tape finish();
  // How many tapes this builder has finished: tells a region that its tape is gone.
  std::int64_t finished() const { return finished_; }

 private:
  struct File {
    File(const std::string& path, const Codec* codec) : sink(path), writer(sink, codec) {}
    FileSink sink;
    TapeWriter writer;
  };
  void tell();

  TapeBuilder builder_;
  std::vector<std::weak_ptr<Watcher>> watchers_;
  std::unique_ptr<File> file_;
  std::int64_t finished_ = 0;
};

// An accumulator of the engine that follows a builder, and keeps its answer after the end.
template <class Accumulator>
class LiveAccumulator final : public Watcher {
 public:
  using Answer = decltype(std::declval<const Accumulator&>().answer());

  template <class Options>
  LiveAccumulator(std::shared_ptr<LiveBuilder> builder, Options options)
      : builder_(std::move(builder)),
        accumulator_(std::in_place, builder_->builder().tables(), std::move(options)) {}

  void add(const Event& event) override { accumulator_->add(event); }

  void finish() override {
    try {
      answer_ = accumulator_->answer();
    } catch (...) {
      problem_ = std::current_exception();
    }
    accumulator_.reset();
    builder_.reset();
  }

  Answer answer() const {
    if (problem_) std::rethrow_exception(problem_);
    return accumulator_ ? accumulator_->answer() : *answer_;
  }

 private:
  std::shared_ptr<LiveBuilder> builder_;  // whose tables the accumulator reads
  std::optional<Accumulator> accumulator_;
  std::optional<Answer> answer_;
  std::exception_ptr problem_;
};

}  // namespace tidemark::python
