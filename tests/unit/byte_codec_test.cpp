// Numbers and texts to bytes and back, and every way to run past the end.
#include "tidemark/engine/base/byte_codec.h"

#include <gtest/gtest.h>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

TEST(ByteCodec, WhatWasWrittenIsRead) {
  ByteWriter out;
  out.number(std::uint8_t{200});
  out.number(std::int64_t{-5});
  out.text("tide");
  out.text("");
  ByteReader in(out.bytes());
  EXPECT_EQ(in.number<std::uint8_t>(), 200);
  EXPECT_EQ(in.number<std::int64_t>(), -5);
  EXPECT_EQ(in.text(), "tide");
  EXPECT_EQ(in.text(), "");
  EXPECT_TRUE(in.at_end());
}

TEST(ByteCodec, NumbersAreLittleEndian) {
  ByteWriter out;
  out.number(std::uint32_t{0x01020304});
  const std::vector<std::byte> expected = {std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}};
  EXPECT_EQ(std::vector(out.bytes().begin(), out.bytes().end()), expected);
}

TEST(ByteCodec, ANumberPastTheEndIsAnError) {
  const std::vector<std::byte> three(3);
  ByteReader in(three);
  EXPECT_THROW(in.number<std::uint32_t>(), Error);
}

TEST(ByteCodec, ATextLongerThanTheRestIsAnError) {
  ByteWriter out;
  out.number(std::uint32_t{5});
  out.number(std::uint32_t{0});
  ByteReader in(out.bytes());
  EXPECT_THROW(in.text(), Error);
}

TEST(ByteCodec, ACountThatTheRestCannotHoldIsAnError) {
  ByteWriter out;
  out.number(std::uint32_t{3});
  for (int i = 0; i < 23; ++i) out.number(std::uint8_t{0});
  EXPECT_THROW(ByteReader(out.bytes()).count(8), Error);  // three rows of 8 need 24 bytes
  out.number(std::uint8_t{0});
  EXPECT_EQ(ByteReader(out.bytes()).count(8), 3u);
}

TEST(ByteCodec, AHugeCountDoesNotOverflowTheCheck) {
  ByteWriter out;
  out.number(std::uint32_t{UINT32_MAX});
  out.number(std::uint64_t{0});
  EXPECT_THROW(ByteReader(out.bytes()).count(1), Error);
}

}  // namespace
}  // namespace tidemark
