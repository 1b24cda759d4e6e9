// Blocks of a caching allocator, from what it counts: on recordings of an H200 the rows, the tape
// and the high marks are what torch.cuda counted there, to the byte.
#include "tidemark/libtorch/recorder/block_marks.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/allocator_recording.h"
#include "tidemark/engine/analyses/peak.h"
#include "tidemark/libtorch/attribution/run.h"

namespace tidemark::recorder {
namespace {

using attribution::Note;
using attribution::NoteKind;
using attribution::StorageKey;
using test::AllocatorRecording;
using test::RecordedEvent;

const attribution::Granularities& granularities() {
  static attribution::Granularities all{};
  all[0] = kCudaGranularity;
  return all;
}

attribution::Run new_run() {
  attribution::Rules rules;
  rules.count_at_birth = rules.counts_blocks = true;
  attribution::TapeOptions options;
  options.keeps_events = true;
  options.device_name = [](std::uint8_t) { return "cuda:0"; };
  return attribution::Run(attribution::Attribution(rules, &granularities(), attribution::kTracking),
                          std::make_unique<attribution::RunTape>(std::move(options)));
}

// An allocator that tells of its events as PyTorch's does: of a birth before it is counted.
class Replayed {
 public:
  explicit Replayed(const AllocatorRecording& recording) : recording_(recording), run_(new_run()) {}

  // The program is followed from this event on.
  void follow_from(std::size_t first) {
    for (const RecordedEvent& event : recording_.events) {
      if (count_++ == first) start();
      take(event);
      if (is_followed_) highest_ = std::max(highest_, now_.allocated);
    }
    if (is_followed_) settle();
  }

  std::int64_t highest() const { return highest_; }
  const BlockMarks& marks() const { return marks_; }
  std::int64_t live_peak() { return run_.attribution().peak()[0].total; }
  DevicePeak tape_peak() { return find_peak(run_.tape()->finish()).devices.at(0); }

 private:
  struct Birth {
    StorageKey key;
    std::int64_t requested, bytes;
    bool is_alive;
  };

  void start() {
    is_followed_ = true;
    run_.start(true);
    marks_.restart(now_);
    for (const Birth& one : births_)
      if (one.is_alive) run_.adopt(one.key, one.requested, one.bytes, 0);
  }
  void take(const RecordedEvent& event) {
    const auto grown = event.segment.bytes;
    switch (event.kind) {
      case '+': return bear(event);
      case '-':
      case '~': return kill(births_[births_.size() - 1 - static_cast<std::size_t>(event.number)]);
      case 'S':
      case 'M': now_.reserved += grown; return;
      case 'F':
      case 'U': now_.reserved -= grown; return;
      default: return;
    }
  }
  void bear(const RecordedEvent& event) {
    const StorageKey key = 16 * (births_.size() + 1);
    if (marks_.is_waiting()) settle();
    if (is_followed_) {
      tell(NoteKind::Born, key, event.number);
      marks_.begin(key, event.number, now_);
    }
    births_.push_back({key, event.number, event.block_bytes, true});
    now_.born += event.block_bytes;
    now_.allocated += event.block_bytes;
  }
  void kill(Birth& one) {
    one.is_alive = false;
    now_.allocated -= one.bytes;
    if (marks_.is_waiting()) settle();
    if (is_followed_) tell(NoteKind::Died, one.key, 0);
  }
  void settle() {
    const auto block = marks_.settle(now_);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->bytes, births_.back().bytes) << recording_.name << ", event " << count_;
    if (!block->is_as_rounded()) tell(NoteKind::Block, block->key, block->bytes);
  }
  void tell(NoteKind kind, StorageKey key, std::int64_t bytes) {
    Note note;
    note.kind = kind;
    note.key = key;
    note.bytes = bytes;
    run_.take(note);
  }

  const AllocatorRecording& recording_;
  attribution::Run run_;
  BlockMarks marks_;
  Counted now_;
  std::vector<Birth> births_;
  std::size_t count_ = 0;
  bool is_followed_ = false;
  std::int64_t highest_ = 0;
};

const std::vector<AllocatorRecording>& recordings() {
  static const auto all = test::read_allocator_recordings(TIDEMARK_TEST_DATA "/allocator");
  return all;
}

TEST(BlockMarks, ThePeakIsWhatTorchCounted) {
  ASSERT_GE(recordings().size(), 22u);
  std::size_t larger = 0;
  for (const AllocatorRecording& recording : recordings()) {
    Replayed run(recording);
    run.follow_from(0);
    const std::int64_t counted = recording.final.at("allocated_bytes").at(1);
    EXPECT_EQ(run.live_peak(), counted) << recording.name;
    const DevicePeak peak = run.tape_peak();
    EXPECT_EQ(peak.allocated_bytes, counted) << recording.name;
    EXPECT_LE(peak.requested_bytes, recording.final.at("requested_bytes").at(1)) << recording.name;
    EXPECT_EQ(run.marks().highest_allocated(), counted) << recording.name;
    EXPECT_EQ(run.marks().highest_reserved(), recording.final.at("reserved_bytes").at(1))
        << recording.name;
    larger += peak.allocated_bytes > rounded_up(peak.requested_bytes, kCudaGranularity);
  }
  EXPECT_GT(larger, 10u);  // blocks matter in most of them
}

TEST(BlockMarks, WhatWasThereBeforeIsCounted) {
  for (const AllocatorRecording& recording : recordings()) {
    Replayed run(recording);
    run.follow_from(recording.events.size() / 2);
    EXPECT_EQ(run.live_peak(), run.highest()) << recording.name;
    EXPECT_EQ(run.tape_peak().allocated_bytes, run.highest()) << recording.name;
    EXPECT_EQ(run.marks().highest_allocated(), run.highest()) << recording.name;
  }
}

TEST(BlockMarks, SumsThatAreSetBackTellNothing) {
  BlockMarks marks;
  marks.begin(8, 600, {5000, 5000, 8192});
  EXPECT_FALSE(marks.settle({0, 6024, 8192}));
  EXPECT_FALSE(marks.is_waiting());
}

TEST(BlockMarks, TheLastBirthCanBeLookedAtWhileItWaits) {
  BlockMarks marks;
  const std::uint64_t before = marks.turn();
  marks.begin(8, 600, {100, 100, 8192});
  EXPECT_NE(marks.turn(), before);
  EXPECT_EQ(marks.turn() % 2, 0u);
  const auto block = marks.last({100 + 4096, 100 + 4096, 8192});
  ASSERT_TRUE(block);
  EXPECT_EQ(block->bytes, 4096);
  EXPECT_EQ(block->allocated, 4196);
  EXPECT_FALSE(block->is_as_rounded());
  EXPECT_TRUE(marks.is_waiting());
}

}  // namespace
}  // namespace tidemark::recorder
