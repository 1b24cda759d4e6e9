// Vectors find the bytes that a plain loop finds, and values end where a walk byte by byte says.
#include "tidemark/readers/json/json_scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tidemark {
namespace {

// Bytes of which many matter, and a few of any kind.
std::string random_text(std::mt19937& random, std::size_t size, std::string_view alphabet) {
  std::string text(size, ' ');
  for (char& c : text)
    c = random() % 8 ? alphabet[random() % alphabet.size()] : static_cast<char>(random());
  return text;
}

TEST(ByteMasks, VectorsFindWhatAPlainLoopFinds) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 20'000; ++turn) {
    // Every place of a block, and addresses that are no multiples of anything.
    const std::string text = random_text(random, 64 + 16, "\"\\{}[] :,a1\xfb\xfd\xdb\xdd");
    const char* const bytes = text.data() + random() % 16;
    ASSERT_EQ(masks_of(bytes), plain_masks(bytes)) << text;
  }
}

TEST(ByteMasks, EveryByteIsFoundAtEveryPlace) {
  for (int place = 0; place < ByteMasks::kBytes; ++place)
    for (int byte = 0; byte < 256; ++byte) {
      std::string text(ByteMasks::kBytes, ' ');
      const char c = static_cast<char>(byte);
      text[static_cast<std::size_t>(place)] = c;
      const auto here = [&](bool is_it) { return std::uint64_t{is_it} << place; };
      const ByteMasks expected{here(c == '"'), here(c == '\\'), here(c == '{' || c == '['),
                               here(c == '}' || c == ']')};
      ASSERT_EQ(masks_of(text.data()), expected) << byte << " at " << place;
      ASSERT_EQ(plain_masks(text.data()), expected) << byte << " at " << place;
    }
}

struct Ended {
  JsonScan::Stop stop;
  std::size_t at;
  bool operator==(const Ended&) const = default;
};

// One byte after the other, with the open brackets as text.
Ended ends_slowly(std::string_view text) {
  std::string open;
  bool in_string = false, is_escaped = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool is_plain = is_escaped && (c == '"' || c == '\\');
    is_escaped = !is_escaped && c == '\\';
    if (is_plain || is_escaped) continue;
    if (c == '"') {
      in_string = !in_string;
      if (!in_string && open.empty()) return {JsonScan::Stop::End, at + 1};
    } else if (in_string) {
      continue;
    } else if (c == '{' || c == '[') {
      if (open.size() == JsonScan::kMostNested) return {JsonScan::Stop::TooDeep, at};
      open.push_back(c);
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != (c == '}' ? '{' : '['))
        return {JsonScan::Stop::WrongBracket, at};
      open.pop_back();
      if (open.empty()) return {JsonScan::Stop::End, at + 1};
    }
  }
  return {JsonScan::Stop::OutOfBytes, text.size()};
}

// In pieces of random lengths.
Ended ends(std::string_view text, std::mt19937& random, std::size_t longest) {
  JsonScan scan;
  for (std::size_t done = 0; done < text.size();) {
    const std::size_t size = std::min(text.size() - done, 1 + random() % longest);
    const auto found = scan.scan(text.data() + done, text.data() + done + size);
    const auto at = static_cast<std::size_t>(found.at - text.data());
    if (found.stop != JsonScan::Stop::OutOfBytes) return {found.stop, at};
    EXPECT_EQ(at, done + size);
    done += size;
  }
  return {JsonScan::Stop::OutOfBytes, text.size()};
}

TEST(JsonScan, ValuesEndWhereAWalkByteByByteSays) {
  std::mt19937 random(2);
  const std::vector<std::string_view> alphabets = {"\"\\a", "{[\"\\ab", "{}[]\"a\\", "{aaaa\"\"}",
                                                   "[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]"};
  int ended = 0, failed = 0;
  for (int turn = 0; turn < 40'000; ++turn) {
    const std::string text =
        "{[\""[random() % 3] +
        random_text(random, random() % 300, alphabets[random() % alphabets.size()]);
    const Ended expected = ends_slowly(text);
    for (std::size_t longest : {std::size_t{3}, std::size_t{100}, text.size()})
      ASSERT_EQ(ends(text, random, longest), expected) << text;
    ended += expected.stop == JsonScan::Stop::End;
    failed += expected.stop == JsonScan::Stop::WrongBracket;
  }
  EXPECT_GT(ended, 1000);
  EXPECT_GT(failed, 1000);
}

TEST(JsonScan, NestingHasALimit) {
  std::mt19937 random(3);
  const std::string deepest(JsonScan::kMostNested, '[');
  EXPECT_EQ(ends(deepest + std::string(JsonScan::kMostNested, ']'), random, 200),
            (Ended{JsonScan::Stop::End, 2 * JsonScan::kMostNested}));
  EXPECT_EQ(ends(deepest + "{", random, 200),
            (Ended{JsonScan::Stop::TooDeep, JsonScan::kMostNested}));
}

}  // namespace
}  // namespace tidemark
