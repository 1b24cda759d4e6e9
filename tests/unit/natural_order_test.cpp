// Natural order: what people expect, and a true order whatever the names.
#include "tidemark/engine/base/natural_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tidemark {
namespace {

TEST(NaturalOrder, DigitRunsCompareAsNumbers) {
  EXPECT_TRUE(natural_less("layers.2", "layers.10"));
  EXPECT_FALSE(natural_less("layers.10", "layers.2"));
  EXPECT_TRUE(natural_less("a2b3", "a2b12"));
}

TEST(NaturalOrder, AParentComesBeforeItsChildren) {
  EXPECT_TRUE(natural_less("layers.2", "layers.2.attn"));
  EXPECT_TRUE(natural_less("", "a"));
}

TEST(NaturalOrder, DigitsOfAnyLengthDoNotOverflow) {
  const std::string nines(40, '9'), more = "1" + std::string(40, '0');
  EXPECT_TRUE(natural_less(nines, more));
  EXPECT_FALSE(natural_less(more, nines));
}

TEST(NaturalOrder, LeadingZerosDoNotChangeANumber) {
  EXPECT_TRUE(natural_less("a007", "a8"));
  EXPECT_TRUE(natural_less("a000", "a1"));
}

TEST(NaturalOrder, EqualNumbersWrittenDifferentlyStillHaveAnOrder) {
  EXPECT_NE(natural_less("a01", "a1"), natural_less("a1", "a01"));
}

TEST(NaturalOrder, NoNameIsLessThanItself) {
  for (const char* name : {"", "a", "1", "a1", "01", "a.b.10"})
    EXPECT_FALSE(natural_less(name, name));
}

TEST(NaturalOrder, ItIsTransitiveOverAllShortNames) {
  std::vector<std::string> names = {""};
  for (std::size_t first = 0, last = 0; names.back().size() < 3; first = last) {
    last = names.size();
    for (std::size_t i = first; i < last; ++i)
      for (char c : {'.', '0', '1', '2', 'a'}) names.push_back(names[i] + c);
  }
  for (const auto& a : names)
    for (const auto& b : names) {
      EXPECT_EQ(natural_less(a, b) || natural_less(b, a), a != b) << a << " " << b;
      for (const auto& c : names)
        if (natural_less(a, b) && natural_less(b, c)) {
          EXPECT_TRUE(natural_less(a, c)) << a << " " << b << " " << c;
        }
    }
}

}  // namespace
}  // namespace tidemark
