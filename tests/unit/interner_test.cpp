// The interner: one id per text, forever.
#include "tidemark/engine/base/interner.h"

#include <gtest/gtest.h>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

TEST(Interner, TheSameTextHasTheSameId) {
  Interner names;
  const StringId a = names.intern("a"), b = names.intern("b");
  EXPECT_NE(a, b);
  EXPECT_EQ(names.intern("a"), a);
  EXPECT_EQ(names.size(), 2u);
}

TEST(Interner, IdsCountUpFromZeroInOrderOfFirstUse) {
  Interner names;
  EXPECT_EQ(names.intern("x").value, 0u);
  EXPECT_EQ(names.intern("").value, 1u);
  EXPECT_EQ(names.intern("y").value, 2u);
}

TEST(Interner, TheNoneIdIsTheEmptyText) { EXPECT_EQ(Interner()[StringId()], ""); }

TEST(Interner, NulBytesAreKept) {
  Interner names;
  const std::string text("a\0b", 3);
  EXPECT_EQ(names[names.intern(text)], text);
  EXPECT_NE(names.intern("a"), names.intern(text));
}

TEST(Interner, TextsStayFoundAfterManyMoreAndAfterAMove) {
  Interner names;
  for (int i = 0; i < 1000; ++i) names.intern(std::to_string(i));
  Interner moved = std::move(names);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(moved.intern(std::to_string(i)).value, i);
    EXPECT_EQ(moved[StringId(i)], std::to_string(i));
  }
}

TEST(Interner, TheLongestNameIsTakenAndALongerOneRefused) {
  Interner names;
  EXPECT_NO_THROW(names.intern(std::string(kMaxNameBytes, 'x')));
  try {
    names.intern(std::string(1'000'000, 'x'));
    FAIL() << "a million characters were taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::BadFormat);
    EXPECT_NE(error.message().find("1000000"), std::string::npos);
    EXPECT_LT(std::string(error.what()).size(), 200u);
  }
}

}  // namespace
}  // namespace tidemark
