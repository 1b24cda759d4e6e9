// The checksum: the same bytes give the same sum however they are cut, and accidents show.
#include "tidemark/engine/base/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace tidemark {
namespace {

std::vector<std::byte> sample(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 37 + 11);
  return bytes;
}

TEST(Checksum, AnyTwoCutsGiveTheSameSum) {
  const auto bytes = sample(100);
  const std::span<const std::byte> whole(bytes);
  for (std::size_t a = 0; a <= bytes.size(); ++a)
    for (std::size_t b = a; b <= bytes.size(); ++b) {
      Checksum sum;
      sum.update(whole.first(a));
      sum.update(whole.subspan(a, b - a));
      sum.update(whole.subspan(b));
      ASSERT_EQ(sum.value(), checksum(whole)) << a << " " << b;
    }
}

TEST(Checksum, OneByteAtATimeIsTheSameAsAllAtOnce) {
  const auto bytes = sample(333);
  Checksum sum;
  for (const std::byte& b : bytes) sum.update(std::span(&b, 1));
  EXPECT_EQ(sum.value(), checksum(bytes));
}

TEST(Checksum, AskingForTheValueChangesNothing) {
  const auto bytes = sample(40);
  Checksum sum;
  sum.update(std::span(bytes).first(7));
  sum.value();
  sum.update(std::span(bytes).subspan(7));
  EXPECT_EQ(sum.value(), checksum(bytes));
}

TEST(Checksum, EveryFlippedBitShows) {
  auto bytes = sample(70);
  const std::uint64_t right = checksum(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    EXPECT_NE(checksum(bytes), right) << bit;
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
}

TEST(Checksum, ZerosOfDifferentLengthsDiffer) {
  std::set<std::uint64_t> sums;
  for (std::size_t size = 0; size < 200; ++size)
    sums.insert(checksum(std::vector<std::byte>(size)));
  EXPECT_EQ(sums.size(), 200u);
}

TEST(Checksum, NeighboursSwappedShow) {
  auto bytes = sample(96);
  const std::uint64_t right = checksum(bytes);
  for (std::size_t i = 0; i + 32 < bytes.size(); i += 8) {
    std::swap_ranges(bytes.begin() + i, bytes.begin() + i + 8, bytes.begin() + i + 32);
    EXPECT_NE(checksum(bytes), right);
    std::swap_ranges(bytes.begin() + i, bytes.begin() + i + 8, bytes.begin() + i + 32);
  }
}

// Sums alone would not tell: each is the same, and the top bits of two words cancel.
TEST(Checksum, PagesSwappedAndTopBitsInPairsShow) {
  auto bytes = sample(3 * 4096);
  std::uint32_t state = 1;  // pages that differ
  for (std::byte& byte : bytes) byte ^= static_cast<std::byte>((state = state * 69069 + 1) >> 24);
  const std::uint64_t right = checksum(bytes);
  auto swapped = bytes;
  std::swap_ranges(swapped.begin(), swapped.begin() + 4096, swapped.begin() + 4096);
  EXPECT_NE(checksum(swapped), right);
  for (std::size_t apart = 64; apart < 8192; apart += 64) {
    auto flipped = bytes;
    flipped[7] ^= std::byte{0x80};
    flipped[7 + apart] ^= std::byte{0x80};
    EXPECT_NE(checksum(flipped), right) << apart;
  }
}

TEST(Checksum, AnEmptyPieceBetweenOthersIsNothing) {
  const auto bytes = sample(24);
  Checksum sum;
  sum.update(bytes);
  sum.update({});
  EXPECT_EQ(sum.value(), checksum(bytes));
}

}  // namespace
}  // namespace tidemark
