// Values through a window smaller than they are, and where errors are.
#include "tidemark/readers/json/json_stream.h"

#include <gtest/gtest.h>

#include "tidemark/readers/json/json_document.h"
#include "tidemark/readers/json/json_time.h"

namespace tidemark {
namespace {

struct Collected final : JsonListener {
  std::vector<std::string> elements;
  std::vector<std::uint64_t> offsets;
  std::string members;

  void element(std::string_view text, std::uint64_t offset) override {
    elements.emplace_back(text);
    offsets.push_back(offset);
  }
  bool wants(std::string_view key) const override { return key == "wanted"; }
  void member(std::string_view key, std::string_view value, std::uint64_t) override {
    members += std::string(key) + "=" + std::string(value) + ";";
  }
};

Collected collect(std::string_view text, std::size_t window) {
  MemorySource source(text);
  JsonStream stream(source, window);
  Collected found;
  walk_document(stream, "list", found);
  return found;
}

std::string where_it_fails(std::string_view text, std::size_t window = 8) {
  try {
    collect(text, window);
  } catch (const Error& error) {
    return error.where();
  }
  return "nowhere";
}

TEST(JsonStream, ElementsAreTheSameThroughEveryWindow) {
  const std::string text =
      R"( {"other": [1, {"list": 2}], "wanted": {"a": "]"}, "list" : [ {"x": "a\"}b"}, [1,2] ,)"
      R"( "s\\", -1.5e3 ], "last": null} )";
  const std::vector<std::string> expected = {R"({"x": "a\"}b"})", "[1,2]", R"("s\\")", "-1.5e3"};
  for (std::size_t window = 1; window < text.size() + 2; ++window) {
    const Collected found = collect(text, window);
    EXPECT_EQ(found.elements, expected) << window;
    EXPECT_EQ(found.members, R"(wanted={"a": "]"};)") << window;
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(text.substr(found.offsets[i], expected[i].size()), expected[i]) << window;
  }
}

TEST(JsonStream, AnErrorHasItsByte) {
  EXPECT_EQ(where_it_fails(R"({"list": [1, 2)"), "byte 14");
  EXPECT_EQ(where_it_fails(R"({"list": [1 2]})"), "byte 12");
  EXPECT_EQ(where_it_fails(R"({"list": [{"a": 1]]})"), "byte 17");
  EXPECT_EQ(where_it_fails(R"({"list": [,]})"), "byte 10");
  EXPECT_EQ(where_it_fails(R"({"list": []} x)"), "byte 13");
  EXPECT_EQ(where_it_fails(R"({"list" [])"), "byte 8");
  EXPECT_EQ(where_it_fails(""), "byte 0");
}

TEST(JsonStream, NestingHasALimit) {
  const std::string open(64, '['), close(64, ']');
  EXPECT_EQ(collect(open + close, 16).elements.size(), 1u);
  // The list itself is no part of its first element, of which 64 brackets may be open.
  EXPECT_EQ(where_it_fails("[" + open + "[" + "]" + close + "]"), "byte 65");
}

TEST(JsonTime, NoDigitIsLost) {
  EXPECT_EQ(nanoseconds_of("4091143348753.098"), 4091143348753098);
  EXPECT_EQ(nanoseconds_of("12"), 12000);
  EXPECT_EQ(nanoseconds_of("-0.5"), -500);
  EXPECT_EQ(nanoseconds_of("0.0019"), 1);
  EXPECT_EQ(nanoseconds_of("1.5e2"), 150000);
}

TEST(JsonTime, WhatIsNoTimeHasNone) {
  for (const char* text :
       {"", "-", "x", "1x", ".5", "\"1\"", "null", "99999999999999999999", "1e99"})
    EXPECT_EQ(nanoseconds_of(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tidemark
