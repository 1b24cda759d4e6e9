// Writing tape text: readable, and read back as it was.
#include "tidemark/engine/tape/text_writer.h"

#include <gtest/gtest.h>

#include "tests/support/tape_content.h"
#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/text_reader.h"
#include "tidemark/engine/tape/text_tokens.h"

namespace tidemark {
namespace {

void expect_same_after_reading(const Tape& tape) {
  const std::string text = write_tape_text(tape);
  const Tape again = read_tape_text(text);
  EXPECT_EQ(test::first_difference(tape, again), "") << text;
  EXPECT_EQ(write_tape_text(again), text);
}

TEST(TextWriter, ATapeThatPeopleWroteComesOutAsTheyWroteIt) {
  const std::string text =
      "tape 1\n"
      "meta model tiny\n"
      "device cuda:0\n"
      "alloc s0 4096 Parameter op=aten::empty at=train.py:3\n"
      "step\n"
      "phase forward\n"
      "begin layers.0\n"
      "  input s0\n"
      "  @900 alloc s1 512 Activation stream=7\n"
      "end layers.0\n"
      "free s1 phase=backward\n";
  // The time stands before the indentation, where it is looked for.
  std::string expected = text;
  expected.replace(expected.find("  @900 alloc"), 12, "@900   alloc");
  EXPECT_EQ(write_tape_text(read_tape_text(text)), expected);
}

TEST(TextWriter, EveryKindComesBack) {
  expect_same_after_reading(read_tape_text(
      "tape 1\ndevice cpu\nalloc a 5 Input\nresize a 9\nrelabel a Buffer\nbegin m\ninput a\n"
      "output a\ncall aten::mm \"(2, 2)\"\nreturn aten::mm \"(2, 2)\"\nend m\nphase optimizer\n"
      "step\nmark \"half way\"\nmap 3 2MiB\nunmap 3 2MiB\nfree a\n"));
}

TEST(TextWriter, NamesWithEveryOddCharacterComeBack) {
  TapeBuilder builder;
  const std::vector<std::string> names = {
      "",     " ",        "-",      "#x",  "@5",
      "a=b",  "\"",       "\\",     "a b", "\n",
      "\x7f", "\xff\xfe", "tide µ", "=",   std::string("a\0b", 3)};
  for (const std::string& name : names) {
    Place place;
    place.scope = builder.tables().scope(name);
    place.call = builder.tables().call(name, name);
    place.stack = builder.tables().stack({}, name, 3, name);
    builder.mark(name, place);
    place.stack = builder.tables().stack({}, name, 3);
    builder.alloc(builder.tables().device("d" + name), 1, Category::Other, place);
    builder.begin_scope(builder.tables().scope(name));
  }
  expect_same_after_reading(builder.finish());
}

TEST(TextWriter, StacksAreNumberedInTheOrderTheyAreNeeded) {
  TapeBuilder builder;
  const StackId late = builder.tables().stack({}, "a.py", 1, "f");
  const StackId deep = builder.tables().stack(late, "b.py", 2, "g");
  const StackId bare = builder.tables().stack({}, "c.py", 3);
  const StackId over_bare = builder.tables().stack(bare, "d.py", 4);
  builder.tables().stack({}, "never.py", 9, "used");
  for (StackId stack : {over_bare, deep, late}) {
    Place place;
    place.stack = stack;
    builder.mark("x", place);
  }
  expect_same_after_reading(builder.finish());
}

TEST(TextWriter, TheEndsOfTimeComeBack) {
  TapeBuilder builder;
  for (std::int64_t time : {INT64_MAX, INT64_MIN, std::int64_t{0}}) {
    builder.set_time(time);
    builder.begin_step();
    builder.begin_step();
  }
  expect_same_after_reading(builder.finish());
}

TEST(TextWriter, ScopesThatDoNotNestComeBack) {
  expect_same_after_reading(read_tape_text(
      "tape 1\nbegin a\nbegin a.b\nbegin a\nend a\nmark x\nend a\nmark y\nend a.b\nend a.b\n"));
}

TEST(TextWriter, ANegativeSizeIsWrittenWithAKey) {
  TapeBuilder builder;
  const DeviceId cpu = builder.tables().device("cpu");
  builder.resize(builder.alloc(cpu, -5), INT64_MIN);
  builder.map_segment(cpu, 1, -7);
  const Tape tape = builder.finish();
  EXPECT_EQ(write_tape_text(tape),
            "tape 1\ndevice cpu\nalloc s0 0 bytes=-5\nresize s0 0 bytes=-9223372036854775808\n"
            "map 1 0 bytes=-7\n");
  expect_same_after_reading(tape);
}

TEST(TextWriter, PoolsNeedTheSecondVersionOfTheTextForm) {
  TapeBuilder builder;
  const DeviceId gpu = builder.tables().device("cuda:1");
  builder.use_pool(gpu, 3);
  builder.release_pool(gpu, 3);
  builder.empty_cache(gpu);
  const Tape tape = builder.finish();
  EXPECT_EQ(write_tape_text(tape), "tape 2\ndevice cuda:1\npool 3\nrelease 3\nempty 0\n");
  expect_same_after_reading(tape);
}

TEST(TextWriter, AFreeThatContradictsItsStorageIsWrittenWithKeys) {
  TapeBuilder builder;
  Event row = builder.draft(Kind::Free, {}, builder.alloc(builder.tables().device("cpu"), 5).value);
  row.bytes = 6;
  row.category = Category::Buffer;
  row.device = DeviceId();
  builder.write(row);
  const Tape tape = builder.finish();
  EXPECT_EQ(write_tape_text(tape),
            "tape 1\ndevice cpu\nalloc s0 5\nfree s0 bytes=6 category=Buffer device=-\n");
  EXPECT_NE(verify(read_tape_text(write_tape_text(tape))).find("wrong-free-size"), nullptr);
  expect_same_after_reading(tape);
}

// The binary file lets every kind have every column; nothing of it may be lost.
TEST(TextWriter, EveryColumnOfEveryKindComesBack) {
  TapeBuilder builder;
  builder.tables().device("-");
  builder.tables().scope("net");
  builder.tables().call("-", "sig");
  builder.tables().strings.intern("text");
  for (std::size_t kind = 0; kind < kKindCount; ++kind)
    for (std::int64_t bytes : {INT64_MIN, std::int64_t{0}, std::int64_t{3}, INT64_MAX})
      for (const bool is_full : {true, false}) {
        Event row;
        row.kind = static_cast<Kind>(kind);
        row.bytes = bytes;
        row.subject = row.kind == Kind::Mark ? 0 : 2;
        if (is_full || needs_device(row.kind)) row.device = DeviceId(0);
        if (is_full) row.scope = ScopeId(0);
        if (is_full) row.call = CallId(0);
        if (is_full) row.category = Category::Gradient;
        if (is_full) row.phase = Phase::Recompute;
        builder.append(row);
      }
  expect_same_after_reading(builder.finish());
}

TEST(TextWriter, StoragesKeepTheirNumbers) {
  TapeBuilder builder;
  const DeviceId cpu = builder.tables().device("cpu");
  for (std::uint32_t number : {7u, 8u, 0u, 9u, 3u})
    builder.alloc_as(StorageId(number), cpu, number, Category::Other);
  const Tape tape = builder.finish();
  expect_same_after_reading(tape);
  const std::string text = write_tape_text(tape);
  // 8 and 9 come after the highest number so far by themselves.
  EXPECT_EQ(text,
            "tape 1\ndevice cpu\nstorage s7 7\nalloc s7 7 Other\nalloc s8 8 Other\n"
            "storage s0 0\nalloc s0 0 Other\nalloc s9 9 Other\nstorage s3 3\nalloc s3 3 Other\n");
}

TEST(TextWriter, DevicesKeepTheirOrder) {
  TapeBuilder builder;
  const DeviceId cpu = builder.tables().device("cpu"), gpu = builder.tables().device("cuda:0");
  builder.tables().device("unused");
  builder.alloc(gpu, 1);
  builder.alloc(cpu, 1);
  const Tape tape = builder.finish();
  const Tape again = read_tape_text(write_tape_text(tape));
  ASSERT_EQ(again.tables().devices().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(again.tables().devices()[i].name, tape.tables().devices()[i].name);
  expect_same_after_reading(tape);
}

TEST(TextWriter, AnEdgeOfNoScopeAndACallOfNoOperatorComeBack) {
  TapeBuilder builder;
  for (Kind kind : {Kind::ScopeBegin, Kind::ScopeEnd, Kind::CallBegin, Kind::CallEnd}) {
    Event row;
    row.kind = kind;
    builder.append(row);
  }
  builder.begin_scope(builder.tables().scope("-"));
  builder.begin_call(builder.tables().call("-"));
  expect_same_after_reading(builder.finish());
}

TEST(TextWriter, TheLongestNamesComeBack) {
  const std::string longest(kMaxNameBytes, 'x');
  TapeBuilder builder;
  Place place;
  place.stack = builder.tables().stack({}, longest, UINT32_MAX);
  place.scope = builder.tables().scope(longest);
  place.call = builder.tables().call(longest, longest);
  builder.alloc(builder.tables().device(longest), 1, Category::Other, place);
  builder.mark(longest, place);
  expect_same_after_reading(builder.finish());
}

TEST(TextTokens, AnyWordIsReadBackFromItsQuotedForm) {
  for (int first = 0; first < 256; ++first) {
    const std::string word = {static_cast<char>(first), 'x', static_cast<char>(first)};
    const auto tokens = tokenize(tidemark::in_quotes(word), "t");
    ASSERT_EQ(tokens.size(), 1u) << first;
    EXPECT_EQ(tokens[0].value, word) << first;
    EXPECT_TRUE(tokens[0].key.empty()) << first;
  }
}

}  // namespace
}  // namespace tidemark
