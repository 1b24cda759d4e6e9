// Sizes over named dimensions: reading and evaluating.
#include "tidemark/engine/graph/size_expression.h"

#include <gtest/gtest.h>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

// The value for s0 = 5 and s1 = 3.
std::int64_t value_of(const std::string& text) {
  Dimensions dimensions;
  dimensions.number_of("s0"), dimensions.number_of("s1");
  const std::vector<std::int64_t> values{5, 3};
  return evaluate(parse_size(text, dimensions), values);
}

TEST(SizeExpression, FollowsThePrecedenceOfPython) {
  EXPECT_EQ(value_of("2 + 3*s0"), 17);
  EXPECT_EQ(value_of("4*s0*(s1 + 1)"), 80);
  EXPECT_EQ(value_of("s0 - s1 - 1"), 1);
  EXPECT_EQ(value_of("-s0 + 7"), 2);
  EXPECT_EQ(value_of("2*s1**2**1"), 18);
  EXPECT_EQ(value_of("s0//s1 + s0 % s1"), 3);
  EXPECT_EQ(value_of("+s0 - -s1"), 8);
}

TEST(SizeExpression, APowerBindsTighterThanTheSignBeforeIt) {
  EXPECT_EQ(value_of("-s1**2 + 100"), 91);
  EXPECT_EQ(value_of("2*-s1**2"), -18);
  EXPECT_EQ(value_of("(-s1)**2"), 9);
  EXPECT_EQ(value_of("--s1**2"), 9);
  EXPECT_EQ(value_of("2**s1**2"), 512);
  EXPECT_EQ(value_of("2**-(-s1)"), 8);
}

TEST(SizeExpression, DividesDownAsPythonDoes) {
  EXPECT_EQ(value_of("-s0//s1"), -2);
  EXPECT_EQ(value_of("(1 - s0) % s1"), 2);
  EXPECT_EQ(value_of("CeilDiv(s0, s1)"), 2);
  EXPECT_EQ(value_of("CeilDiv(-s0, s1)"), -1);
}

TEST(SizeExpression, ReadsTheFunctionForms) {
  EXPECT_EQ(value_of("Max(1, s0, s1)"), 5);
  EXPECT_EQ(value_of("Min(s0, s1)"), 3);
  EXPECT_EQ(value_of("Mul(Integer(4), Symbol('s0', integer=True, positive=True))"), 20);
  EXPECT_EQ(value_of("Add(Integer(-1), Pow(Symbol('s1'), Integer(2)))"), 8);
  EXPECT_EQ(value_of("FloorDiv(s0 + s1, 3)"), 2);
}

TEST(SizeExpression, ANewNameBecomesADimension) {
  Dimensions dimensions;
  parse_size("batch*length + batch", dimensions);
  ASSERT_EQ(dimensions.size(), 2u);
  EXPECT_EQ(dimensions[1].name, "length");
}

TEST(SizeExpression, AnythingElseIsRefused) {
  for (const char* text : {"", "4*", "(s0", "s0)", "Sin(s0)", "4 s0", "'s0'", "Symbol(s0)", "1.5",
                           "99999999999999999999", "Max()", "+"})
    EXPECT_THROW(value_of(text), Error) << text;
  EXPECT_THROW(value_of(std::string(5000, '(')), Error);
  EXPECT_THROW(value_of("2" + std::string(9000, '*') + "2"), Error);
  EXPECT_THROW(value_of(std::string(9000, '-') + "2"), Error);
}

TEST(SizeExpression, AValuePast63BitsIsRefusedNotWrapped) {
  for (const char* text : {"9223372036854775807 + s0", "9223372036854775807*s0", "s0**63",
                           "-9223372036854775807 - s0", "s0//(s1 - 3)", "s0 % 0", "s0**(-1)"})
    EXPECT_THROW(value_of(text), Error) << text;
}

}  // namespace
}  // namespace tidemark
