// Which operators return the storage of an argument.
#include "tidemark/engine/operators/aliases.h"

#include <gtest/gtest.h>

#include <vector>

namespace tidemark::operators {
namespace {

TEST(Aliases, ViewsAndInPlaceOperatorsAreKnown) {
  for (const char* name : {"aten::view", "aten::t", "aten::split.Tensor", "aten::add_.Tensor",
                           "aten::slice.Tensor", "aten::relu_", "aten::detach.default"})
    EXPECT_EQ(alias_of_first_argument(name), Alias::Always) << name;
  for (const char* name : {"aten::reshape", "aten::contiguous", "aten::to.dtype", "aten::flatten"})
    EXPECT_EQ(alias_of_first_argument(name), Alias::Sometimes) << name;
  for (const char* name : {"aten::add.Tensor", "aten::mm", "aten::view_copy", "view", "my::view",
                           "aten::__and__.Tensor", "", "aten::"})
    EXPECT_EQ(alias_of_first_argument(name), Alias::Never) << name;
}

TEST(Aliases, DropoutIsKnownByName) {
  EXPECT_TRUE(is_dropout("aten::dropout"));
  EXPECT_FALSE(is_dropout("aten::native_dropout"));  // has a mask of its own to return
}

struct Shape {
  std::vector<std::int64_t> sizes, strides;
  int dtype = 7, device = 0;
  operator Layout() const { return {dtype, device, sizes, strides}; }
};

TEST(Aliases, ContiguousMeansRowAfterRow) {
  EXPECT_TRUE(is_contiguous(Shape{{2, 3}, {3, 1}}));
  EXPECT_TRUE(is_contiguous(Shape{{2, 1, 3}, {3, 99, 1}}));  // a size of 1 has no stride
  EXPECT_TRUE(is_contiguous(Shape{{0, 3}, {7, 7}}));
  EXPECT_TRUE(is_contiguous(Shape{}));
  EXPECT_FALSE(is_contiguous(Shape{{2, 3}, {1, 2}}));
  EXPECT_FALSE(is_contiguous(Shape{{INT64_MAX, INT64_MAX}, {INT64_MAX, 1}}));
}

TEST(Aliases, AReshapeOfSomethingContiguousIsAView) {
  EXPECT_TRUE(is_view_of(Shape{{2, 3}, {3, 1}}, Shape{{6}, {1}}));
  EXPECT_FALSE(is_view_of(Shape{{2, 3}, {1, 2}}, Shape{{6}, {1}}));             // gathered anew
  EXPECT_TRUE(is_view_of(Shape{{2, 2, 3}, {1, 6, 2}}, Shape{{2, 6}, {1, 2}}));  // still strided
}

TEST(Aliases, AConversionThatChangesNothingReturnsItsArgument) {
  const Shape argument{{2, 3}, {3, 1}};
  EXPECT_TRUE(is_view_of(argument, argument));
  EXPECT_FALSE(is_view_of(argument, Shape{{2, 3}, {1, 2}}));
  EXPECT_FALSE(is_view_of(argument, Shape{{2, 3}, {3, 1}, 6}));
  EXPECT_FALSE(is_view_of(argument, Shape{{2, 3}, {3, 1}, 7, 1}));
}

}  // namespace
}  // namespace tidemark::operators
