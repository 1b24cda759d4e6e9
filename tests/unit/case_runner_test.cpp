// The case runner itself: what it reads, what it finds wrong, what it never rewrites.
#include <gtest/gtest.h>

#include "tests/cases/runner/case_file.h"
#include "tests/cases/runner/checks.h"
#include "tests/cases/runner/difference.h"
#include "tests/cases/runner/questions.h"

namespace tidemark::cases {
namespace {

constexpr const char* kCase =
    "# 100 bytes on a cpu are 100 bytes.\n"
    "tape 1\n"
    "device cpu\n"
    "alloc a 100\n"
    "\n"
    "=== check --step 0\n"
    "peak cpu = 100\n"
    "\n"
    "=== text\n"
    "tape 1\n";

TEST(CaseFile, IsWrittenAsItWasRead) { EXPECT_EQ(write_case(parse_case(kCase)), kCase); }

TEST(CaseFile, HeadingsHaveVerbsAndOptions) {
  const CaseFile file = parse_case("tape 1\n=== timeline --columns 8 --time\n=== tape B\ntape 1\n");
  ASSERT_EQ(file.sections.size(), 2u);
  EXPECT_EQ(file.sections[0].verb, "timeline");
  EXPECT_EQ(file.sections[0].options.at("--columns"), "8");
  EXPECT_EQ(file.sections[0].options.at("--time"), "");
  EXPECT_EQ(file.sections[0].line, 2u);
  EXPECT_EQ(file.sections[1].verb, "tape B");
}

TEST(CaseChecks, ARightValueLeavesTheLineAsItIs) {
  const CaseFile file = parse_case(kCase);
  Tapes tapes(file);
  EXPECT_EQ(check(file.sections[0], tapes), file.sections[0].body);
}

TEST(CaseChecks, AWrongValueAWrongQuestionAndAMissingValueAllShow) {
  const CaseFile file = parse_case(
      "tape 1\ndevice cpu\nalloc a 100\n=== check\npeak cpu = 101\nnonsense = 1\npeak cpu\n# ok\n");
  Tapes tapes(file);
  EXPECT_EQ(
      check(file.sections[0], tapes),
      "peak cpu = 100\nnonsense = (no such thing)\npeak cpu = (a check needs a value)\n# ok\n");
}

TEST(CaseQuestions, AnErrorIsAnAnswer) {
  const CaseFile file = parse_case("nonsense\n=== peak\n");
  Tapes tapes(file);
  EXPECT_EQ(answer(file.sections[0], tapes).substr(0, 20), "bad-format: case:1:1");
  EXPECT_FALSE(is_question("frobnicate"));
}

TEST(CaseDifference, ShowsWhatIsMissingAndWhatIsNew) {
  EXPECT_EQ(difference("a\nb\nc\n", "a\nx\nc\nd\n"), "  a\n- b\n+ x\n  c\n+ d\n");
  EXPECT_EQ(difference("", "a\n"), "+ a\n");
}

}  // namespace
}  // namespace tidemark::cases
