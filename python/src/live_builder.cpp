// Feeds watchers, and owns the file that a builder spills to.
#include "python/src/live_builder.h"

#include "tidemark/engine/base/error.h"

namespace tidemark::python {

void LiveBuilder::tell() {
  bool some_gone = false;
  for (const auto& watcher : watchers_) {
    if (auto alive = watcher.lock()) alive->add(builder_.last());
    else some_gone = true;
  }
  if (some_gone) std::erase_if(watchers_, [](const auto& watcher) { return watcher.expired(); });
}

void LiveBuilder::watch(const std::shared_ptr<Watcher>& watcher) {
  if (builder_.size() > 0)
    throw Error(ErrorCode::BadArgument, "this builder has events that the accumulator would miss",
                {}, "create accumulators before the first event");
  watchers_.push_back(watcher);
}

void LiveBuilder::diagnose(const Diagnostic& problem) {
  builder_.diagnose(problem.code, problem.severity, problem.where, problem.message, problem.count);
}

void LiveBuilder::spill_to(const std::string& path, bool keep, const Codec* codec) {
  if (file_)
    throw Error(ErrorCode::BadArgument, "this builder already writes to a file", path,
                "call finish first");
  file_ = std::make_unique<File>(path, codec);
  builder_.spill_to(file_->writer, keep);
}

Tape LiveBuilder::finish() {
  for (const auto& watcher : std::exchange(watchers_, {}))
    if (auto alive = watcher.lock()) alive->finish();
  Tape tape = builder_.finish();
  if (file_) file_->sink.flush();
  file_.reset();
  ++finished_;
  return tape;
}

}  // namespace tidemark::python
