// The binary .tape file: round trips, codecs, spilling.
#include <gtest/gtest.h>

#include "tests/support/tape_content.h"
#include "tests/support/toy_codec.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/file_reader.h"
#include "tidemark/engine/tape/file_writer.h"
#include "tidemark/engine/tape/text_reader.h"

namespace tidemark {
namespace {

using test::file_of;
using test::first_difference;
using test::tape_of;

Tape small_tape() {
  return read_tape_text(
      "tape 1\nmeta gpu h200\ndiagnostic dropped warning 2 \"event 3\" \"too fast\"\n"
      "stack main t.py 3 main\ndevice cpu\nalloc a 5 Parameter at=main op=aten::empty stream=4\n"
      "begin m.x\n@77 free a\nend m.x\nmark done\n");
}

// Fills a builder with enough events for more than two blocks, naming things as it goes.
void fill_blocks(TapeBuilder& builder, std::size_t events = 2 * kBlockEvents + 100) {
  const DeviceId cpu = builder.tables().device("cpu");
  StorageId last;
  while (builder.size() < events) {
    if (builder.size() % 1000 == 0) {
      builder.mark("at " + std::to_string(builder.size()));
    } else if (last) {
      builder.free(last);
      last = {};
    } else {
      last = builder.alloc(cpu, static_cast<std::int64_t>(builder.size()), Category::Activation);
    }
  }
}

TEST(TapeFile, ATapeComesBackWhole) {
  const Tape tape = small_tape();
  EXPECT_EQ(first_difference(tape, tape_of(file_of(tape))), "");
}

TEST(TapeFile, AnEmptyTapeComesBackEmpty) {
  const Tape tape = tape_of(file_of(Tape()));
  EXPECT_EQ(tape.size(), 0u);
  EXPECT_TRUE(tape.diagnostics().empty());
}

TEST(TapeFile, ACodecMakesItSmallerAndLosesNothing) {
  TapeBuilder builder;
  fill_blocks(builder, 5000);
  const Tape tape = builder.finish();
  const test::ToyCodec codec;
  const auto packed = file_of(tape, &codec);
  EXPECT_LT(packed.size(), file_of(tape).size());
  EXPECT_EQ(first_difference(tape, tape_of(packed, &codec)), "");
}

TEST(TapeFile, ACompressedTapeWithoutItsCodecSaysSo) {
  TapeBuilder builder;
  fill_blocks(builder, 5000);
  const test::ToyCodec codec(77), other(78);
  const auto packed = file_of(builder.finish(), &codec);
  for (const Codec* wrong : {static_cast<const Codec*>(nullptr), static_cast<const Codec*>(&other)})
    try {
      tape_of(packed, wrong);
      FAIL() << "it was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unsupported);
      EXPECT_NE(error.hint(), "");
    }
}

TEST(TapeFile, ABuilderThatSpillsAndKeepsWritesTheSameEvents) {
  MemorySink sink;
  TapeWriter writer(sink);
  TapeBuilder builder;
  builder.spill_to(writer, true);
  fill_blocks(builder);
  const Tape kept = builder.finish();
  EXPECT_EQ(kept.size(), 2 * kBlockEvents + 100);
  EXPECT_EQ(first_difference(kept, tape_of(sink.bytes())), "");
}

TEST(TapeFile, ABuilderThatSpillsAndForgetsHoldsAtMostOneBlock) {
  MemorySink sink;
  TapeWriter writer(sink);
  TapeBuilder builder, reference;
  builder.spill_to(writer, false);
  fill_blocks(builder);
  fill_blocks(reference);
  EXPECT_EQ(builder.size(), reference.size());
  EXPECT_EQ(builder.finish().size(), 0u);
  EXPECT_EQ(first_difference(reference.finish(), tape_of(sink.bytes())), "");
}

TEST(TapeFile, WhatIsFlushedIsReadEvenIfTheRunIsKilledThen) {
  MemorySink sink;
  TapeWriter writer(sink);
  TapeBuilder builder;
  builder.spill_to(writer, false);
  fill_blocks(builder, 100);
  builder.flush();
  builder.mark("never written");
  const Tape tape = tape_of(sink.bytes());
  EXPECT_EQ(tape.size(), 100u);
  ASSERT_NE(tape.diagnostics().find("truncated-file"), nullptr);
  EXPECT_EQ(tape.diagnostics().find("truncated-file")->severity, Severity::Warning);
}

TEST(TapeFile, AMetaEntryReplacedAfterAFlushIsTheOneRead) {
  MemorySink sink;
  TapeWriter writer(sink);
  TapeBuilder builder;
  builder.spill_to(writer, false);
  builder.tables().set_meta("state", "running");
  builder.begin_step();
  builder.flush();
  builder.tables().set_meta("state", "done");
  builder.finish();
  EXPECT_EQ(tape_of(sink.bytes()).tables().meta().at("state"), "done");
}

TEST(TapeFile, FlushingTwiceWritesNothingTwice) {
  MemorySink sink;
  TapeWriter writer(sink);
  TapeBuilder builder;
  builder.spill_to(writer, true);
  fill_blocks(builder, 10);
  builder.flush();
  const std::size_t size = sink.bytes().size();
  builder.flush();
  EXPECT_EQ(sink.bytes().size(), size);
  const Tape kept = builder.finish();
  EXPECT_EQ(first_difference(kept, tape_of(sink.bytes())), "");
}

TEST(TapeFile, NumbersReservedAheadAreReadBack) {
  TapeBuilder builder;
  for (int i = 0; i < 100; ++i) builder.new_storage();
  builder.alloc(builder.tables().device("cpu"), 1);
  const Tape tape = builder.finish();
  EXPECT_EQ(tape_of(file_of(tape))[0].subject, 100u);
}

}  // namespace
}  // namespace tidemark
