// Calls and returns, maps and unmaps: each needs its partner.
#include "tidemark/engine/replay/pair_rules.h"

#include <gtest/gtest.h>

#include "tests/support/written_tape.h"
#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/tape/text_reader.h"

namespace tidemark {
namespace {

// What verify finds in a tape of these lines, as "code count first-place".
std::vector<std::string> found_in(const std::string& lines) {
  const Diagnostics found = verify(test::cpu_tape(lines));
  std::vector<std::string> facts;
  for (const Diagnostic& d : found.all())
    facts.push_back(d.code + " " + std::to_string(d.count) + " " + d.where);
  return facts;
}

using Facts = std::vector<std::string>;

TEST(PairRules, CallsThatReturnAreGood) {
  EXPECT_EQ(found_in("call f\nreturn f\ncall f\ncall g\nreturn f\nreturn g\n"), Facts{});
}

TEST(PairRules, ACallMayCallItself) {
  EXPECT_EQ(found_in("call f\ncall f\nreturn f\nreturn f\n"), Facts{});
}

TEST(PairRules, AReturnNeedNotRepeatTheSignature) {
  EXPECT_EQ(found_in("call f (2,3)\nreturn f\n"), Facts{});
}

TEST(PairRules, AReturnWithoutACallIsNamed) {
  EXPECT_EQ(found_in("return f\ncall f\nreturn f\nreturn f\n"), Facts{"call-not-open 2 event 0"});
}

TEST(PairRules, AReturnOfAnotherOperatorEndsNothing) {
  EXPECT_EQ(found_in("call f\nreturn g\n"),
            (Facts{"call-not-open 1 event 1", "call-left-open 1 event 0"}));
}

TEST(PairRules, TheFirstCallLeftOpenIsTheOneThatBeganFirst) {
  // "late" has the lower number: it is mentioned first.
  EXPECT_EQ(found_in("mark x op=late\ncall early\ncall late\n"), Facts{"call-left-open 2 event 1"});
}

TEST(PairRules, CallsOfNoOperatorAreAPairToo) {
  EXPECT_EQ(found_in("call -\nreturn -\nreturn -\n"), Facts{"call-not-open 1 event 2"});
}

TEST(PairRules, SegmentsMayComeBackAndMayStay) {
  EXPECT_EQ(found_in("map 1 5\nunmap 1 5\nmap 1 7\nmap 2 5\n"), Facts{});
}

TEST(PairRules, SegmentsOfTwoDevicesAreTwo) {
  EXPECT_EQ(found_in("map 1 5\ndevice gpu\nmap 1 6\nunmap 1 6\ndevice cpu\nunmap 1 5\n"), Facts{});
}

TEST(PairRules, ASegmentMappedTwiceIsNamedAndHasItsNewSize) {
  EXPECT_EQ(found_in("map 1 5\nmap 1 6\nunmap 1 6\n"), Facts{"segment-mapped-twice 1 event 1"});
}

TEST(PairRules, ASegmentUnmappedWithoutAMapIsNamed) {
  EXPECT_EQ(found_in("unmap 1 5\nmap 1 5\nunmap 1 5\nunmap 1 5\n"),
            Facts{"segment-not-mapped 2 event 0"});
}

TEST(PairRules, ASegmentUnmappedWithAnotherSizeIsNamedAndGone) {
  EXPECT_EQ(found_in("map 1 5\nunmap 1 4\nunmap 1 1\n"),
            (Facts{"wrong-unmap-size 1 event 1", "segment-not-mapped 1 event 2"}));
}

TEST(PairRules, APoolIsUsedReleasedAndUsedAgain) {
  EXPECT_EQ(found_in("pool 1\npool 0\nrelease 1\nempty 1\nempty 0\npool 1\nrelease 1\n"), Facts{});
}

TEST(PairRules, APoolThatNobodyUsesIsNamedWhereItIsReleasedOrEmptied) {
  EXPECT_EQ(found_in("release 1\nempty 2\npool 1\nrelease 1\nrelease 1\n"),
            Facts{"pool-not-in-use 3 event 0"});
}

TEST(PairRules, ThePoolThatAllShareIsNeverReleased) {
  EXPECT_EQ(found_in("pool 0\nrelease 0\n"), Facts{"pool-not-in-use 1 event 1"});
}

TEST(PairRules, PoolsOfTwoDevicesAreTwo) {
  EXPECT_EQ(found_in("pool 1\ndevice cuda:7\nrelease 1\n"), Facts{"pool-not-in-use 1 event 1"});
}

TEST(PairRules, AWarningMayBeTheRecordersFaultAndAnErrorIsNot) {
  const Diagnostics found =
      verify(read_tape_text("tape 1\nreturn f\ncall f\nmap 1 1\nmap 1 1\nunmap 1 2\nunmap 1 1\n"));
  for (const char* code : {"call-not-open", "segment-mapped-twice", "wrong-unmap-size"})
    EXPECT_EQ(found.find(code)->severity, Severity::Error) << code;
  for (const char* code : {"call-left-open", "segment-not-mapped"})
    EXPECT_EQ(found.find(code)->severity, Severity::Warning) << code;
}

}  // namespace
}  // namespace tidemark
