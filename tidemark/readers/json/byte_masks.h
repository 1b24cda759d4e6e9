// Which of 64 bytes are quotes, backslashes and brackets, as bits of words: the first is the
// lowest.
//
// An opening bracket and an opening brace differ in one bit, and so do the closing ones: with that
// bit set, four comparisons find all six. Both kinds of vectors are part of every processor of
// their family, so nothing has to be asked at run time.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace tidemark {

struct ByteMasks {
  static constexpr int kBytes = 64;
  std::uint64_t quotes = 0, backslashes = 0;
  std::uint64_t opens = 0, closes = 0;  // of { and [, of } and ]
  bool operator==(const ByteMasks&) const = default;
};

inline constexpr char kBraceBit = 0x20;  // '[' with it is '{', ']' with it is '}'

// One byte after the other: where there are no vectors, and what these must equal.
inline ByteMasks plain_masks(const char* bytes) {
  ByteMasks found;
  for (int i = 0; i < ByteMasks::kBytes; ++i) {
    const char c = bytes[i], brace = static_cast<char>(c | kBraceBit);
    found.quotes |= std::uint64_t{c == '"'} << i;
    found.backslashes |= std::uint64_t{c == '\\'} << i;
    found.opens |= std::uint64_t{brace == '{'} << i;
    found.closes |= std::uint64_t{brace == '}'} << i;
  }
  return found;
}

#if defined(__SSE2__)

inline ByteMasks masks_of(const char* bytes) {
  ByteMasks found;
  const __m128i brace_bit = _mm_set1_epi8(kBraceBit);
  for (int at = 0; at < ByteMasks::kBytes; at += 16) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + at));
    const __m128i braces = _mm_or_si128(text, brace_bit);
    const auto equal = [at](__m128i some, char c) {
      const int bits = _mm_movemask_epi8(_mm_cmpeq_epi8(some, _mm_set1_epi8(c)));
      return std::uint64_t{static_cast<std::uint32_t>(bits)} << at;
    };
    found.quotes |= equal(text, '"');
    found.backslashes |= equal(text, '\\');
    found.opens |= equal(braces, '{');
    found.closes |= equal(braces, '}');
  }
  return found;
}

#elif defined(__aarch64__)

namespace neon {

// The 64 answers of four comparisons: each byte keeps the bit of its place, and neighbours are
// added up until eight bytes are one.
inline std::uint64_t bits_of(uint8x16x4_t answers) {
  constexpr std::uint8_t kPlaces[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t places = vld1q_u8(kPlaces);
  const uint8x16_t front =
      vpaddq_u8(vandq_u8(answers.val[0], places), vandq_u8(answers.val[1], places));
  const uint8x16_t back =
      vpaddq_u8(vandq_u8(answers.val[2], places), vandq_u8(answers.val[3], places));
  const uint8x16_t quarters = vpaddq_u8(front, back);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)), 0);
}

inline std::uint64_t equal(uint8x16x4_t text, char c) {
  const uint8x16_t wanted = vdupq_n_u8(static_cast<std::uint8_t>(c));
  for (uint8x16_t& part : text.val) part = vceqq_u8(part, wanted);
  return bits_of(text);
}

}  // namespace neon

inline ByteMasks masks_of(const char* bytes) {
  uint8x16x4_t text, braces;
  for (int part = 0; part < 4; ++part) {
    text.val[part] = vld1q_u8(reinterpret_cast<const std::uint8_t*>(bytes) + 16 * part);
    braces.val[part] = vorrq_u8(text.val[part], vdupq_n_u8(kBraceBit));
  }
  return {neon::equal(text, '"'), neon::equal(text, '\\'), neon::equal(braces, '{'),
          neon::equal(braces, '}')};
}

#else

inline ByteMasks masks_of(const char* bytes) { return plain_masks(bytes); }

#endif

}  // namespace tidemark
