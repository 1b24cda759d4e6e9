// Open scopes: the innermost one, whatever ends first, and no time lost on many.
#include "tidemark/engine/tape/open_scopes.h"

#include <gtest/gtest.h>

#include "tidemark/engine/tape/text_reader.h"
#include "tidemark/engine/tape/text_writer.h"
#include "tidemark/engine/tape/verify.h"

namespace tidemark {
namespace {

TEST(OpenScopes, TheInnermostIsTheNewestThatHasNotEnded) {
  OpenScopes open;
  EXPECT_FALSE(open.innermost());
  open.begin(ScopeId(0));
  open.begin(ScopeId(1));
  open.begin(ScopeId(0));
  open.end(ScopeId(1));
  EXPECT_EQ(open.innermost(), ScopeId(0));
  open.end(ScopeId(0));
  EXPECT_EQ(open.innermost(), ScopeId(0));
  EXPECT_EQ(open.size(), 1u);
  open.end(ScopeId(0));
  EXPECT_EQ(open.size(), 0u);
  EXPECT_FALSE(open.innermost());
}

TEST(OpenScopes, EndingWhatIsNotOpenChangesNothing) {
  OpenScopes open;
  open.end(ScopeId(7));
  open.begin(ScopeId(1));
  open.end(ScopeId(0));
  open.end(ScopeId());
  EXPECT_EQ(open.size(), 1u);
  EXPECT_EQ(open.innermost(), ScopeId(1));
}

std::string repeated(const std::string& line, int times) {
  std::string lines;
  for (int i = 0; i < times; ++i) lines += line;
  return lines;
}

// A walk over all open scopes at each end would take minutes here.
TEST(OpenScopes, HundredsOfThousandsOpenAtOnceCostLittle) {
  constexpr int kMany = 200'000;
  const std::string text = "tape 1\n" + repeated("begin a phase=forward\n", kMany) +
                           repeated("begin a phase=backward\n", kMany) +
                           repeated("end b\n", kMany) +
                           repeated("end a phase=forward\n", kMany);
  const Tape tape = read_tape_text(text);
  const Diagnostics found = verify(tape);
  EXPECT_EQ(found.find("scope-not-open")->count, kMany);
  EXPECT_EQ(found.find("scope-left-open")->count, kMany);
  EXPECT_EQ(found.find("scope-left-open")->where, "event " + std::to_string(kMany));
  EXPECT_EQ(read_tape_text(write_tape_text(tape)).size(), tape.size());
}

TEST(OpenScopes, TensOfThousandsOfKindsOfDiagnosticsCostLittle) {
  Diagnostics all;
  for (int i = 0; i < 100'000; ++i) all.add("c" + std::to_string(i), Severity::Note, "", "");
  EXPECT_EQ(all.all().size(), 100'000u);
  EXPECT_EQ(all.find("c77777")->count, 1);
}

}  // namespace
}  // namespace tidemark
