// Kinds of events: their words, and the questions that are asked about each.
#include "tidemark/engine/tape/event.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tidemark {
namespace {

TEST(Kind, EveryNameFindsItsKind) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kKindCount; ++i) {
    const auto kind = static_cast<Kind>(i);
    EXPECT_EQ(kind_named(name_of(kind)), kind);
    names.insert(name_of(kind));
  }
  EXPECT_EQ(names.size(), kKindCount);
  EXPECT_EQ(kind_named("nonsense"), std::nullopt);
}

// What docs/formats/tape.md says of each kind, as letters: C the event changes a storage, S its
// subject is a storage, M a segment of memory, P a pool, D it needs a device, B it is the border of
// a scope, O of an operator.
struct Row {
  Kind kind;
  std::string facts;
};
const std::vector<Row> kRows = {
    {Kind::Alloc, "CSD"},    {Kind::Free, "CS"},       {Kind::Resize, "CS"},
    {Kind::Relabel, "CS"},   {Kind::ScopeBegin, "B"},  {Kind::ScopeEnd, "B"},
    {Kind::CallBegin, "O"},  {Kind::CallEnd, "O"},     {Kind::Phase, ""},
    {Kind::Step, ""},        {Kind::Mark, ""},         {Kind::Input, "S"},
    {Kind::Output, "S"},     {Kind::SegmentMap, "MD"}, {Kind::SegmentUnmap, "MD"},
    {Kind::Block, "CS"},     {Kind::PoolUse, "PD"},    {Kind::PoolRelease, "PD"},
    {Kind::CacheEmpty, "PD"}};

std::string facts_of(Kind kind) {
  std::string facts;
  if (changes_storage(kind)) facts += "C";
  if (is_about_storage(kind)) facts += "S";
  if (is_about_segment(kind)) facts += "M";
  if (is_about_pool(kind)) facts += "P";
  if (needs_device(kind)) facts += "D";
  if (is_scope_edge(kind)) facts += "B";
  if (is_call_edge(kind)) facts += "O";
  return facts;
}

TEST(Kind, EveryQuestionIsAnsweredForEveryKind) {
  ASSERT_EQ(kRows.size(), kKindCount);
  for (std::size_t i = 0; i < kKindCount; ++i) {
    EXPECT_EQ(kRows[i].kind, static_cast<Kind>(i));  // every kind has its row, in their order
    EXPECT_EQ(facts_of(kRows[i].kind), kRows[i].facts) << name_of(kRows[i].kind);
  }
}

}  // namespace
}  // namespace tidemark
