// What operators take and write, and which overloads fit what was seen.
#include "tidemark/engine/operators/schemas.h"

#include <gtest/gtest.h>

#include "tidemark/engine/dataflow/matching.h"

namespace tidemark::operators {
namespace {

using dataflow::fitting;
using dataflow::Seen;

TEST(Schemas, LettersAreArguments) {
  const Schema schema = schema_of_letters("!T?nL");
  ASSERT_EQ(schema.size(), 3u);
  EXPECT_EQ(schema[0], (Argument{ArgumentType::Tensor, false, true}));
  EXPECT_EQ(schema[1], (Argument{ArgumentType::Number, true, false}));
  EXPECT_EQ(schema[2], (Argument{ArgumentType::TensorList, false, false}));
}

TEST(Schemas, TorchsOperatorsAreKnown) {
  EXPECT_FALSE(find_schemas("aten::add").empty());
  EXPECT_TRUE(find_schemas("add").empty());
  EXPECT_TRUE(find_schemas("aten::no_such_operator").empty());
  for (const Schema& schema : find_schemas("aten::zero_")) EXPECT_TRUE(schema[0].written);
  for (const Schema& schema : find_schemas("aten::detach")) EXPECT_FALSE(schema[0].written);
}

TEST(Schemas, OverloadsFitByCountAndKind) {
  const std::vector<Schema> add = {schema_of_letters("TTn"), schema_of_letters("Tnn"),
                                   schema_of_letters("TTn!T")};
  using Numbers = std::vector<std::uint32_t>;
  const std::vector<Seen> tensors = {Seen::Tensor, Seen::Tensor, Seen::Int};
  EXPECT_EQ(fitting(tensors, add), Numbers{0});
  const std::vector<Seen> scalar = {Seen::Tensor, Seen::Bool, Seen::Float};
  EXPECT_EQ(fitting(scalar, add), Numbers{1});
  const std::vector<Seen> unknown = {Seen::Nothing, Seen::Tensor, Seen::Int};
  EXPECT_EQ(fitting(unknown, add), Numbers{});
}

TEST(Schemas, NothingFitsWhatProfilersDoNotRecord) {
  EXPECT_TRUE(fits(Seen::Nothing, {ArgumentType::Other}));
  EXPECT_FALSE(fits(Seen::Int, {ArgumentType::Other}));
  EXPECT_TRUE(fits(Seen::Nothing, {ArgumentType::Tensor, true}));
  EXPECT_FALSE(fits(Seen::SomeTensors, {ArgumentType::TensorList}));
  EXPECT_TRUE(fits(Seen::SomeTensors, {ArgumentType::Any}));
}

}  // namespace
}  // namespace tidemark::operators
