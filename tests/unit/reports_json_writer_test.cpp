// The JSON writer: shapes, escapes, exact numbers.
#include "tidemark/engine/reports/json_writer.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

std::string quoted(std::string_view text) {
  JsonWriter json;
  json.text(text);
  std::string written = json.take();
  written.pop_back();
  return written;
}

TEST(JsonWriter, BroadObjectsHaveOneMemberALineAndFlatOnesOneLine) {
  JsonWriter json;
  json.begin_object();
  json.member("a", 1);
  json.key("b");
  json.begin_array(JsonShape::Flat);
  json.number(2);
  json.begin_object();
  json.member("c", "x");
  json.member("d", "y");
  json.end_object();
  json.end_array();
  json.end_object();
  EXPECT_EQ(json.take(),
            "{\n"
            "  \"a\": 1,\n"
            "  \"b\": [2, {\"c\": \"x\", \"d\": \"y\"}]\n"
            "}\n");
}

TEST(JsonWriter, EmptyContainersStayOnOneLine) {
  JsonWriter json;
  json.begin_array();
  json.begin_object();
  json.end_object();
  json.begin_array();
  json.end_array();
  json.end_array();
  EXPECT_EQ(json.take(), "[\n  {},\n  []\n]\n");
}

TEST(JsonWriter, IntegersAreExactToTheEndsOf64Bits) {
  JsonWriter json;
  json.begin_array(JsonShape::Flat);
  json.number(INT64_MAX);
  json.number(INT64_MIN);
  json.end_array();
  EXPECT_EQ(json.take(), "[9223372036854775807, -9223372036854775808]\n");
}

TEST(JsonWriter, QuotesBackslashesAndControlCharactersAreEscaped) {
  EXPECT_EQ(quoted("a\"b\\c\n\r\t"), R"("a\"b\\c\n\r\t")");
  EXPECT_EQ(quoted(std::string_view("\0\x1b\x1f\x7f", 4)), R"("\u0000\u001b\u001f\u007f")");
}

TEST(JsonWriter, ValidUtf8IsKeptAndEachInvalidByteIsReplaced) {
  EXPECT_EQ(quoted("µ→𝛼"), "\"µ→𝛼\"");
  EXPECT_EQ(quoted("a\xff\xfe z"), "\"a\uFFFD\uFFFD z\"");
  EXPECT_EQ(quoted("cut \xe2\x82"), "\"cut \uFFFD\uFFFD\"");
}

TEST(JsonWriter, UnknownTextsAndNegativePlacesAreNull) {
  JsonWriter json;
  json.begin_object(JsonShape::Flat);
  json.member_if_known("scope", "");
  json.member_if_known("event", -1);
  json.member_if_known("op", "mm");
  json.member_if_known("at", 0);
  json.end_object();
  EXPECT_EQ(json.take(), "{\"scope\": null, \"event\": null, \"op\": \"mm\", \"at\": 0}\n");
}

TEST(JsonWriter, BooleansAreWords) {
  JsonWriter json;
  json.begin_array(JsonShape::Flat);
  json.boolean(true);
  json.boolean(false);
  json.end_array();
  EXPECT_EQ(json.take(), "[true, false]\n");
}

TEST(JsonWriter, KeysAreEscapedToo) {
  JsonWriter json;
  json.begin_object(JsonShape::Flat);
  json.member("a\"\xff", 1);
  json.end_object();
  EXPECT_EQ(json.take(), "{\"a\\\"\uFFFD\": 1}\n");
}

}  // namespace
}  // namespace tidemark
