// Ranks side by side: the worst, and what differs.
#include "tidemark/engine/analyses/ranks.h"

#include <gtest/gtest.h>

#include "tests/support/written_tape.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/text.h"

namespace tidemark {
namespace {

using test::written_tape;

RanksComparison two_ranks() {
  RanksComparison ranks;
  ranks.add("a", written_tape("meta run.rank 4\ndevice cpu\nalloc w 10 Parameter op=aten::empty\n"
                              "begin m\nalloc x 5 Activation op=aten::mm\nend m\n"));
  ranks.add("b", written_tape("meta run.rank 5\ndevice cpu\nalloc w 10 Parameter op=aten::empty\n"
                              "begin m\nalloc x 7 Activation op=aten::mm\nend m\nbegin n\n"
                              "alloc y 1 Temporary\nend n\n"));
  return ranks;
}

TEST(Ranks, TheWorstIsTheHighestPeak) {
  const RanksAnswer answer = two_ranks().answer();
  EXPECT_EQ(answer.worst, 1);
  EXPECT_EQ(answer.ranks.at(0).allocated_bytes, 15);
  EXPECT_EQ(answer.ranks.at(1).allocated_bytes, 18);
  EXPECT_EQ(answer.ranks[1].rank, 5);
}

TEST(Ranks, OnlyWhatDiffersIsTold) {
  const RanksAnswer answer = two_ranks().answer();
  const std::vector<Spread> categories = {{"Activation", 5, 7, 4, 5}, {"Temporary", 0, 1, 4, 5}};
  const std::vector<Spread> scopes = {{"m", 5, 7, 4, 5}, {"n", 0, 1, 4, 5}};
  const std::vector<Spread> ops = {{"aten::mm", 5, 7, 4, 5}, {"(none)", 0, 1, 4, 5}};
  EXPECT_EQ(answer.categories, categories);
  EXPECT_EQ(answer.scopes, scopes);
  EXPECT_EQ(answer.ops, ops);
}

TEST(Ranks, RanksWithoutNumbersAreCounted) {
  RanksComparison ranks;
  for (const char* name : {"a", "b"}) ranks.add(name, written_tape("device cpu\nalloc w 1\n"));
  const RanksAnswer answer = ranks.answer();
  EXPECT_EQ(answer.ranks[1].rank, 1);
  EXPECT_EQ(answer.worst, 0);
  EXPECT_TRUE(answer.ops.empty());
  EXPECT_NE(text_report(answer, TextStyle{}).find("hold the same"), std::string::npos);
}

TEST(Ranks, NoRanksHaveNoWorst) {
  const RanksAnswer answer = RanksComparison().answer();
  EXPECT_EQ(answer.worst, -1);
  EXPECT_EQ(text_report(answer, TextStyle{}), "There are no ranks.\n");
  EXPECT_NE(json_report(answer).find("\"worst\": -1"), std::string::npos);
}

}  // namespace
}  // namespace tidemark
