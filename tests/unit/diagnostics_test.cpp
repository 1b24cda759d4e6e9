// Diagnostics count each kind of problem once; errors read as one line.
#include "tidemark/engine/base/diagnostics.h"

#include <gtest/gtest.h>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

TEST(Diagnostics, TheFirstReportKeepsItsPlaceAndSentence) {
  Diagnostics all;
  all.add("double-free", Severity::Error, "event 3", "first");
  all.add("double-free", Severity::Error, "event 9", "second", 4);
  ASSERT_EQ(all.all().size(), 1u);
  EXPECT_EQ(all.all()[0].count, 5);
  EXPECT_EQ(all.all()[0].where, "event 3");
  EXPECT_EQ(all.all()[0].message, "first");
}

TEST(Diagnostics, CodesKeepTheOrderOfTheirFirstReport) {
  Diagnostics all;
  all.add("b", Severity::Note, "", "");
  all.add("a", Severity::Note, "", "");
  all.add("b", Severity::Note, "", "");
  ASSERT_EQ(all.all().size(), 2u);
  EXPECT_EQ(all.all()[0].code, "b");
}

TEST(Diagnostics, AddingALedgerAddsItsCounts) {
  Diagnostics one, two;
  one.add("a", Severity::Note, "x", "m", 2);
  two.add("a", Severity::Note, "y", "n", 3);
  two.add("c", Severity::Error, "z", "o");
  one.add(two);
  EXPECT_EQ(one.find("a")->count, 5);
  EXPECT_EQ(one.find("c")->where, "z");
  EXPECT_EQ(one.find("missing"), nullptr);
}

TEST(Diagnostics, OnlyErrorsAreErrors) {
  Diagnostics all;
  EXPECT_TRUE(all.empty());
  all.add("a", Severity::Note, "", "");
  all.add("b", Severity::Warning, "", "");
  EXPECT_FALSE(all.has_errors());
  all.add("c", Severity::Error, "", "");
  EXPECT_TRUE(all.has_errors());
}

TEST(Diagnostics, NotesAreNoProblems) {
  Diagnostics all;
  all.add("a", Severity::Note, "", "", 10);
  EXPECT_EQ(all.problem_count(), 0);
  EXPECT_TRUE(all.problems().empty());
  all.add("b", Severity::Warning, "", "", 2);
  all.add("c", Severity::Error, "", "", 3);
  EXPECT_EQ(all.problem_count(), 2 + 3);
  EXPECT_EQ(all.problems().all().size(), 2u);
  ASSERT_EQ(all.notes().all().size(), 1u);
  EXPECT_EQ(all.notes().all()[0], all.all()[0]);
}

TEST(Diagnostics, ANoteDoesNotHideAnErrorOfItsCode) {
  Diagnostics all;
  all.add("a", Severity::Note, "x", "m");
  all.add("a", Severity::Error, "y", "n");
  all.add("a", Severity::Warning, "z", "o");
  ASSERT_EQ(all.all().size(), 1u);
  EXPECT_EQ(all.all()[0].severity, Severity::Error);
  EXPECT_EQ(all.all()[0].where, "x");
}

TEST(Diagnostics, CountsStopAtTheEndOf63Bits) {
  Diagnostics all;
  all.add("a", Severity::Note, "", "", INT64_MAX);
  all.add("a", Severity::Note, "", "", 2);
  EXPECT_EQ(all.find("a")->count, INT64_MAX);
}

TEST(Error, TheLineSaysWhereWhatAndWhatToTry) {
  const Error error(ErrorCode::NotFound, "no such file", "run.tape", "check the path");
  EXPECT_STREQ(error.what(), "run.tape: no such file (check the path)");
  EXPECT_STREQ(Error(ErrorCode::Internal, "broken").what(), "broken");
  EXPECT_EQ(name_of(error.code()), "not-found");
}

}  // namespace
}  // namespace tidemark
