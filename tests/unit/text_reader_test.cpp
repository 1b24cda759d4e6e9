// Tape text: what each line means, and the line and column of each mistake.
#include "tidemark/engine/tape/text_reader.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

// The place, the sentence and the hint of the error that a text gives.
struct Complaint {
  ErrorCode code = ErrorCode::Internal;
  std::string where, message, hint;
};

Complaint complaint_of(std::string_view text) {
  try {
    read_tape_text(text, "t");
  } catch (const Error& error) {
    return {error.code(), error.where(), error.message(), error.hint()};
  }
  return {};
}

TEST(TapeText, AHeaderAloneIsAnEmptyTape) { EXPECT_EQ(read_tape_text("tape 1\n").size(), 0u); }

TEST(TapeText, BlanksCommentsAndCarriageReturnsAreNothing) {
  const Tape tape = read_tape_text("# about\r\n\r\n  tape 1 # header\r\n\tstep # begins\r\n");
  ASSERT_EQ(tape.size(), 1u);
  EXPECT_EQ(tape[0].kind, Kind::Step);
}

TEST(TapeText, TheLastLineNeedsNoLineEnd) { EXPECT_EQ(read_tape_text("tape 1\nstep").size(), 1u); }

TEST(TapeText, WithoutADeviceLineStoragesAreOnTheFirstGpu) {
  const Tape tape = read_tape_text("tape 1\nalloc a 1KiB Parameter\n");
  EXPECT_EQ(tape.tables().devices()[tape[0].device.value].name, "cuda:0");
  EXPECT_EQ(tape[0].bytes, 1024);
  EXPECT_EQ(tape[0].category, Category::Parameter);
}

TEST(TapeText, ADeviceLineHoldsForTheLinesAfterIt) {
  const Tape tape = read_tape_text("tape 1\ndevice cpu\nalloc a 1\ndevice cuda:1\nalloc b 1\n");
  EXPECT_EQ(tape.tables().devices()[tape[0].device.value].name, "cpu");
  EXPECT_EQ(tape.tables().devices()[tape[1].device.value].name, "cuda:1");
}

TEST(TapeText, EveryKeySaysWhereAnEventHappens) {
  const Tape tape = read_tape_text(
      "tape 1\n"
      "alloc a 4 Activation op=aten::mm sig=\"(2, 2) f32\" at=train.py:12 stream=7 "
      "scope=layers.0 phase=backward\n");
  const Event e = tape[0];
  EXPECT_EQ(tape.tables().op_name(e.call), "aten::mm");
  EXPECT_EQ(tape.tables().strings[tape.tables().calls()[e.call.value].signature], "(2, 2) f32");
  EXPECT_EQ(tape.tables().source(e.stack), "train.py:12");
  EXPECT_EQ(tape.tables().streams()[e.stream.value], 7);
  EXPECT_EQ(tape.tables().scope_path(e.scope), "layers.0");
  EXPECT_EQ(e.phase, Phase::Backward);
}

TEST(TapeText, ADashMeansNoScopeAndAQuotedDashAScopeOfThatName) {
  const Tape tape = read_tape_text("tape 1\nbegin a\nmark x scope=-\nmark y scope=\"-\"\n");
  EXPECT_FALSE(tape[1].scope);
  EXPECT_EQ(tape.tables().scope_path(tape[2].scope), "-");
  EXPECT_TRUE(tape[2].scope);
}

TEST(TapeText, StepsAndPhasesKeepTheirPlace) {
  const Tape tape = read_tape_text("tape 1\nstep at=a.py:3\nphase forward stream=2\n");
  EXPECT_EQ(tape.tables().source(tape[0].stack), "a.py:3");
  EXPECT_TRUE(tape[1].stream);
  EXPECT_EQ(tape[1].phase, Phase::Forward);
}

TEST(TapeText, StacksNameTheirCallers) {
  const Tape tape = read_tape_text(
      "tape 1\nstack main train.py 3 main\nstack f model.py 9 forward under=main\nmark x at=f\n");
  const auto& stacks = tape.tables().stacks();
  const StackNode node = stacks[tape[0].stack.value];
  EXPECT_EQ(tape.tables().source(tape[0].stack), "model.py:9");
  EXPECT_EQ(tape.tables().source(node.parent), "train.py:3");
}

TEST(TapeText, TimesAreAbsoluteAndThenCountOn) {
  const Tape tape = read_tape_text("tape 1\n@100 step\nstep\n@-5 step\n");
  EXPECT_EQ(tape[0].time_ns, 100);
  EXPECT_EQ(tape[1].time_ns, 101);
  EXPECT_EQ(tape[2].time_ns, -5);
}

TEST(TapeText, QuotedWordsUndoTheirEscapes) {
  const Tape tape = read_tape_text("tape 1\nmark \"a \\\"b\\\" \\\\ \\n\\t\\x01 = #\"\n");
  EXPECT_EQ(tape.tables().strings[StringId(tape[0].subject)], "a \"b\" \\ \n\t\x01 = #");
}

TEST(TapeText, MetaAndDiagnosticsAreKept) {
  const Tape tape = read_tape_text(
      "tape 1\nmeta gpu \"H200 SXM\"\ndiagnostic dropped warning 3 \"event 9\" \"too fast\"\n");
  EXPECT_EQ(tape.tables().meta().at("gpu"), "H200 SXM");
  EXPECT_EQ(tape.diagnostics().find("dropped")->count, 3);
}

TEST(TapeText, KeysSayWhatDoesNotFollow) {
  const Tape tape = read_tape_text(
      "tape 1\ndevice cpu\nalloc a 5 bytes=-5\nfree a bytes=6 category=Buffer device=\"-\"\n"
      "step subject=3 device=-\n");
  EXPECT_EQ(tape[0].bytes, -5);
  EXPECT_EQ(tape[1].bytes, 6);
  EXPECT_EQ(tape[1].category, Category::Buffer);
  EXPECT_EQ(tape.tables().devices()[tape[1].device.value].name, "-");
  EXPECT_EQ(tape[2].subject, 3u);
  EXPECT_FALSE(tape[2].device);
}

TEST(TapeText, ABareDashNamesNothing) {
  const Tape tape =
      read_tape_text("tape 1\nbegin a\nbegin -\nbegin \"-\"\ncall -\ncall \"-\"\nmark x op=-\n");
  EXPECT_FALSE(tape[1].scope);
  EXPECT_EQ(tape.tables().scope_path(tape[2].scope), "-");
  EXPECT_FALSE(tape[3].call);
  EXPECT_EQ(tape.tables().op_name(tape[4].call), "-");
  EXPECT_FALSE(tape[5].call);
}

TEST(TapeText, AStorageLineGivesANumber) {
  const Tape tape = read_tape_text(
      "tape 1\nstorage late 7\nalloc a 1\nalloc late 1\nstorage b 2\nalloc b 1\nalloc c 1\n");
  EXPECT_EQ(tape[0].subject, 8u);  // new numbers are above all that were given
  EXPECT_EQ(tape[1].subject, 7u);
  EXPECT_EQ(tape[2].subject, 2u);
  EXPECT_EQ(tape[3].subject, 9u);
}

TEST(TapeText, FreeingAnUnknownNameIsAnEventNotAnError) {
  const Tape tape = read_tape_text("tape 1\nfree ghost\nalloc a 1\n");
  EXPECT_EQ(tape[0].kind, Kind::Free);
  EXPECT_NE(tape[0].subject, tape[1].subject);
}

struct BadText {
  const char* text;
  const char* where;
  const char* part_of_message;
};

class BadTapeText : public ::testing::TestWithParam<BadText> {};

TEST_P(BadTapeText, SaysLineColumnAndWhatIsWrong) {
  const Complaint found = complaint_of(GetParam().text);
  EXPECT_EQ(found.code, ErrorCode::BadFormat);
  EXPECT_EQ(found.where, GetParam().where);
  EXPECT_NE(found.message.find(GetParam().part_of_message), std::string::npos) << found.message;
}

INSTANTIATE_TEST_SUITE_P(
    Each, BadTapeText,
    ::testing::Values(BadText{"hello\n", "t:1:1", "not a tape"},
                      BadText{"# nothing\n", "t:1:1", "no tape"},
                      BadText{"tape 1\n  frobnicate x\n", "t:2:3", "unknown word"},
                      BadText{"tape 1\nalloc a\n", "t:2:1", "number of operands"},
                      BadText{"tape 1\nalloc a 1 Parameter x\n", "t:2:1", "number of operands"},
                      BadText{"tape 1\nalloc a -5\n", "t:2:9", "negative"},
                      BadText{"tape 1\nalloc a 9223372036854775808\n", "t:2:9", "63 bits"},
                      BadText{"tape 1\nalloc a 5KB\n", "t:2:9", "not a size"},
                      BadText{"tape 1\nalloc a 5 Weight\n", "t:2:11", "unknown category"},
                      BadText{"tape 1\nphase sideways\n", "t:2:7", "unknown phase"},
                      BadText{"tape 1\nmark x phase=up\n", "t:2:8", "unknown phase"},
                      BadText{"tape 1\nmark x colour=red\n", "t:2:8", "unknown key"},
                      BadText{"tape 1\nmark x at=f:1 at=g:2\n", "t:2:15", "at= stands twice"},
                      BadText{"tape 1\nmark a=b\n", "t:2:6", "unknown key"},
                      BadText{"tape 1\ndevice cpu sig=x\n", "t:2:12", "does not belong"},
                      BadText{"tape 1\nmark x =red\n", "t:2:8", "without a key"},
                      BadText{"tape 1\nmark x sig=y\n", "t:2:1", "sig= without op="},
                      BadText{"tape 1\nmark x at=nowhere\n", "t:2:8", "unknown stack"},
                      BadText{"tape 1\nmark x at=f.py:x\n", "t:2:8",
                              "a line must be a whole number"},
                      BadText{"tape 1\nmark x stream=1e3\n", "t:2:8", "a stream must be"},
                      BadText{"tape 1\nmark \"open\n", "t:2:11", "closing quote"},
                      BadText{"tape 1\nmark \"a\"b\n", "t:2:9", "runs into a quote"},
                      BadText{"tape 1\nmark a\"b\"\n", "t:2:7", "runs into a quote"},
                      BadText{"tape 1\nmark \"\\q\"\n", "t:2:8", "unknown escape"},
                      BadText{"tape 1\nmark \"\\x1\"\n", "t:2:8", "two digits"},
                      BadText{"tape 1\n@soon step\n", "t:2:1", "a time must be"},
                      BadText{"tape 1\n@99999999999999999999 step\n", "t:2:1", "a time must be"},
                      BadText{"tape 1\n@5\n", "t:2:1", "without an event"},
                      BadText{"tape 1\nmap -1 5\n", "t:2:5", "a segment must be"},
                      BadText{"tape 1\nstack a f.py twelve\n", "t:2:14", "a line must be"},
                      BadText{"tape 1\ndiagnostic c fatal 1 w m\n", "t:2:14", "unknown severity"},
                      BadText{"tape 1\nstorage a 131072\n", "t:2:11", "far ahead"},
                      BadText{"tape 1\nfree a\nstorage a 5\n", "t:3:9", "named before"},
                      BadText{"tape 1\nfree a\nstorage b 0\n", "t:3:9", "named before"},
                      BadText{"tape 1\nstorage a -1\n", "t:2:11", "a storage's number must be"},
                      BadText{"tape 1\nstep bytes=1KiB\n", "t:2:6", "a number of bytes must be"},
                      BadText{"tape 1\ncall - sig\n", "t:2:8", "a signature without"},
                      BadText{"tape 1\nmark x op=- sig=y\n", "t:2:1", "sig= without op="},
                      BadText{"tape 1\nmark \xff\n", "t:2:6", "not UTF-8"}));

// The keys that docs/formats/tape.md gives each word; a line of that word is good without them.
struct WordKeys {
  std::string line;
  std::set<std::string> keys;
};
using Keys = std::set<std::string>;
const Keys kPlaceKeys = {"op", "at", "stream", "scope", "phase"};
const Keys kColumnKeys = {"bytes", "category", "device"};
Keys place_keys_and(Keys more, const std::string& without = "") {
  more.insert(kPlaceKeys.begin(), kPlaceKeys.end());
  more.erase(without);
  return more;
}
const Keys kAllColumns = {"bytes", "category", "device", "subject"};
const std::vector<WordKeys> kWordKeys = {
    {"tape 1", {}},
    {"meta a b", {}},
    {"device cpu", {}},
    {"stack k f.py 3", {"under"}},
    {"diagnostic c note 1 w m", {}},
    {"storage a 3", {}},
    {"alloc a 1", place_keys_and({"bytes"})},
    {"free a", place_keys_and(kColumnKeys)},
    {"resize a 1", place_keys_and(kColumnKeys)},
    {"relabel a Buffer", place_keys_and({"bytes", "device"})},
    {"begin m", place_keys_and(kAllColumns, "scope")},
    {"end m", place_keys_and(kAllColumns, "scope")},
    {"call f", place_keys_and(kAllColumns, "op")},
    {"return f", place_keys_and(kAllColumns, "op")},
    {"phase forward", place_keys_and(kAllColumns, "phase")},
    {"step", place_keys_and(kAllColumns)},
    {"mark x", place_keys_and(kColumnKeys)},
    {"input a", place_keys_and(kColumnKeys)},
    {"output a", place_keys_and(kColumnKeys)},
    {"map 1 1", place_keys_and({"bytes", "category"})},
    {"unmap 1 1", place_keys_and({"bytes", "category"})},
};
const std::map<std::string, std::string> kKeyValues = {
    {"op", "f"},        {"at", "f.py:1"},    {"stream", "1"}, {"scope", "m"},
    {"phase", "other"}, {"under", "f.py:1"}, {"bytes", "-1"}, {"category", "Buffer"},
    {"device", "cpu"},  {"subject", "3"}};

TEST(TapeText, AKeyOnALineThatHasNoUseForItIsRefused) {
  for (const auto& [line, keys] : kWordKeys)
    for (const auto& [key, value] : kKeyValues) {
      const std::string text = "tape 1\n" + line + " " + key + "=" + value + "\n";
      const Complaint found = complaint_of(text);
      if (keys.contains(key)) {
        EXPECT_EQ(found.message, "") << text;
        continue;
      }
      EXPECT_EQ(found.where, "t:2:" + std::to_string(line.size() + 2)) << text;
      EXPECT_EQ(found.message, key + "= does not belong on this line") << text;
      // The hint names what is allowed.
      for (const std::string& good : keys)
        EXPECT_NE(found.hint.find(" " + good + "="), std::string::npos) << found.hint;
      EXPECT_EQ(found.hint.find(" " + key + "="), std::string::npos) << found.hint;
    }
}

TEST(TapeText, ANulByteIsNamed) {
  const Complaint found = complaint_of(std::string_view("tape 1\nmark a\0b\n", 16));
  EXPECT_EQ(found.where, "t:2:7");
  EXPECT_NE(found.message.find("NUL"), std::string::npos);
}

TEST(TapeText, AnotherVersionIsUnsupported) {
  const Complaint found = complaint_of("tape 3\n");
  EXPECT_EQ(found.code, ErrorCode::Unsupported);
  EXPECT_EQ(found.where, "t:1");
}

TEST(TapeText, AMillionCharacterNameIsRefusedWithItsPlace) {
  const std::string name(1'000'000, 'x');
  for (const std::string& line : {"mark " + name, "begin " + name, "mark y scope=" + name}) {
    const Complaint found = complaint_of("tape 1\n" + line);
    EXPECT_EQ(found.where.substr(0, 4), "t:2:");
    EXPECT_NE(found.message.find("1000000"), std::string::npos);
    EXPECT_LT(found.message.size() + found.hint.size(), 200u);
  }
}

TEST(TapeText, TooManyDevicesAreRefusedWithTheLine) {
  std::string text = "tape 1\n";
  for (int i = 0; i < 300; ++i) text += "device d" + std::to_string(i) + "\n";
  const Complaint found = complaint_of(text);
  EXPECT_EQ(found.where, "t:257:1");  // line 1 is the header, 255 devices fit
  EXPECT_NE(found.message.find("too many devices"), std::string::npos);
}

}  // namespace
}  // namespace tidemark
