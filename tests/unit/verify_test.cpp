// verify: a good tape has no problems, and each problem is named with its first event.
#include "tidemark/engine/replay/verify.h"

#include <gtest/gtest.h>

#include "tests/support/written_tape.h"
#include "tidemark/engine/tape/builder.h"

namespace tidemark {
namespace {

Diagnostics verify_text(const std::string& lines) { return verify(test::cpu_tape(lines)); }

void expect_only(const Diagnostics& found, const std::string& code, const std::string& where,
                 std::int64_t count = 1) {
  ASSERT_EQ(found.all().size(), 1u);
  EXPECT_EQ(found.all()[0].code, code);
  EXPECT_EQ(found.all()[0].where, where);
  EXPECT_EQ(found.all()[0].count, count);
}

TEST(Verify, AGoodTapeHasNoProblems) {
  EXPECT_TRUE(verify_text("step\nbegin m\nalloc a 5\nresize a 9\nrelabel a Buffer\ninput a\n"
                          "output a\nfree a\nend m\nalloc a 3\n")
                  .empty());
  EXPECT_TRUE(verify(Tape()).empty());
}

TEST(Verify, ScopesThatDoNotNestAreGood) {
  EXPECT_TRUE(
      verify_text("begin a\nbegin b\nend a\nend b\nbegin a\nbegin a\nend a\nend a\n").empty());
}

TEST(Verify, ADoubleFreeIsNamedOnceWithItsCount) {
  expect_only(verify_text("alloc a 5\nfree a\nfree a\nfree a\n"), "double-free", "event 2", 2);
}

TEST(Verify, AFreeOfAnUnknownStorageIsNamed) {
  expect_only(verify_text("free ghost\n"), "free-unknown", "event 0");
}

TEST(Verify, AStorageBornTwiceIsNamed) {
  expect_only(verify_text("alloc a 5\nalloc a 6\n"), "alloc-twice", "event 1");
}

TEST(Verify, UsingADeadOrUnknownStorageIsNamed) {
  expect_only(verify_text("alloc a 5\nfree a\nresize a 6\nrelabel a Buffer\ninput a\noutput b\n"),
              "dead-storage", "event 2", 4);
}

TEST(Verify, ANegativeSizeIsNamed) {
  TapeBuilder builder;
  builder.alloc(builder.tables().device("cpu"), -1);
  expect_only(verify(builder.finish()), "negative-size", "event 0");
}

TEST(Verify, AScopeEndedTwiceIsNamed) {
  expect_only(verify_text("begin a\nend a\nend a\n"), "scope-not-open", "event 2");
}

TEST(Verify, TheFirstScopeLeftOpenIsTheOneThatBeganFirst) {
  // "late" has the lower number: it is mentioned first.
  expect_only(verify_text("mark x scope=late\nbegin early\nbegin late\n"), "scope-left-open",
              "event 1", 2);
}

TEST(Verify, AnEndMeansTheCallThatBeganInItsPhase) {
  // The backward call of "a" ends; the recomputation inside it is the one left open.
  expect_only(
      verify_text("begin a phase=backward\nbegin a phase=recompute\nend a phase=backward\n"),
      "scope-left-open", "event 1");
}

TEST(Verify, TimeThatRunsBackIsNamed) {
  expect_only(verify_text("@10 step\n@9 step\n@9 step\n"), "time-runs-back", "event 1");
}

TEST(Verify, ATotalPast63BitsIsNamed) {
  expect_only(verify_text("alloc a 8388607TiB\nalloc b 8388607TiB\n"), "total-overflow", "event 1");
}

TEST(Verify, AFreeThatNamesAnotherSizeIsNamed) {
  TapeBuilder builder;
  builder.free(builder.alloc(builder.tables().device("cpu"), 5));
  Tape tape = builder.finish();
  EventColumns events;
  Event alloc = tape[0], free = tape[1];
  free.bytes = 6;
  events.push(alloc);
  events.push(free);
  Tables tables;
  tables.device("cpu");
  expect_only(verify(Tape(std::move(tables), std::move(events))), "wrong-free-size", "event 1");
}

TEST(Verify, SeveralProblemsAreNamedInTheOrderTheyAppear) {
  const Diagnostics found = verify_text("free ghost\nalloc a 5\nfree a\nfree a\nend m\nbegin n\n");
  std::vector<std::string> codes;
  for (const Diagnostic& d : found.all()) codes.push_back(d.code);
  EXPECT_EQ(codes, (std::vector<std::string>{"free-unknown", "double-free", "scope-not-open",
                                             "scope-left-open"}));
  EXPECT_TRUE(found.has_errors());
}

}  // namespace
}  // namespace tidemark
