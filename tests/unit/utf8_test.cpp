// UTF-8: what is valid, how wide it prints, what is safe to print.
#include "tidemark/engine/base/utf8.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Utf8, EveryLengthOfCharacterIsValid) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("\u00e4\u20ac\U0001f30a"));  // two, three and four bytes
}

TEST(Utf8, TheFirstAndLastCharactersOfEachLengthAreValid) {
  for (const char* text : {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(text));
}

TEST(Utf8, OverlongSurrogateAndTooHighFormsAreRefused) {
  for (const char* text : {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
                           "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\x80"})
    EXPECT_FALSE(is_utf8(text));
}

TEST(Utf8, ThePrefixEndsWhereTheDamageBegins) {
  EXPECT_EQ(utf8_prefix("ab\xffgh"), 2u);
  EXPECT_EQ(utf8_prefix("ab\xe2\x82"), 2u);  // a character cut at the end
}

TEST(Utf8, WidthCountsCharactersNotBytes) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("µs"), 2u);
  EXPECT_EQ(display_width("█▁"), 2u);
}

TEST(Utf8, ControlCharactersAndInvalidBytesBecomeVisible) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\uFFFD[31mb");
  EXPECT_EQ(printable("a\nb\x7f"), "a\uFFFDb\uFFFD");
  EXPECT_EQ(printable("\xc2\x9b"), "\uFFFD");  // the one-character form of an escape sequence
  EXPECT_EQ(printable("\xffz"), "\uFFFDz");
  EXPECT_EQ(printable("tide µ"), "tide µ");
}

}  // namespace
}  // namespace tidemark
