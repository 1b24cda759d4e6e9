// Scope spans: before, after and the peak inside, however scopes overlap.
#include "tidemark/engine/replay/scope_spans.h"

#include <gtest/gtest.h>

#include "tests/support/written_tape.h"

namespace tidemark {
namespace {

// Every span of a text in the order of ends; those left open last.
struct Spans {
  static constexpr Needs kNeeds = ScopeSpans::kNeeds;
  explicit Spans(const std::string& lines) : tape(test::cpu_tape(lines)), replay(tape.tables()) {
    replay.add_all(tape, *this);
    closed_in_time = ended.size();
    const OpenCalls& open = replay.scopes().open();
    for (auto call = open.newest(); call != OpenCalls::kNone; call = open.older(call))
      ended.push_back(*spans.end(call, replay));
    problems = replay.scopes().final_diagnostics();
  }
  void see(const Event& e, const Change& change, const Replay& now) {
    if (const ScopeSpan* span = spans.look(e, change, now)) ended.push_back(*span);
    most_rows = std::max(most_rows, spans.row_count(now.scopes().open()));
  }
  std::string_view path(std::size_t i) const { return tape.tables().scope_path(ended[i].scope); }

  Tape tape;
  Replay replay;
  ScopeSpans spans;
  Diagnostics problems;
  std::vector<ScopeSpan> ended;
  std::size_t closed_in_time = 0, most_rows = 0;
};

// A device that is not listed was empty.
DeviceSpan on_device(const ScopeSpan& span, std::size_t device) {
  for (const DeviceSpan& one : span.devices)
    if (one.device.value == device) return one;
  return {};
}

void expect_bytes(const ScopeSpan& span, std::int64_t before, std::int64_t peak, std::int64_t after,
                  std::size_t device = 0) {
  const DeviceSpan found = on_device(span, device);
  EXPECT_EQ(found.before, before);
  EXPECT_EQ(found.peak.allocated, peak);
  EXPECT_EQ(found.after, after);
}

TEST(ScopeSpans, ThePeakInsideIsNotTheOneBeforeOrAfter) {
  const Spans done(
      "alloc big 100\nfree big\nalloc p 10\nbegin m\nalloc a 5\nfree a\nalloc b 2\nend m\n"
      "alloc c 50\n");
  ASSERT_EQ(done.ended.size(), 1u);
  expect_bytes(done.ended[0], 10, 15, 12);
  EXPECT_EQ(done.ended[0].devices[0].peak_event, 4);
}

TEST(ScopeSpans, AScopeThatOnlyFreesHasItsPeakAtItsBegin) {
  const Spans done("alloc a 10\nalloc b 20\nbegin m\nfree a\nalloc c 3\nend m\n");
  expect_bytes(done.ended[0], 30, 30, 23);
  EXPECT_EQ(done.ended[0].devices[0].peak_event, 2);
}

TEST(ScopeSpans, ThePeakKnowsItsCategories) {
  const Spans done(
      "alloc p 10 Parameter\nbegin m\nalloc a 5 Activation\nrelabel a Gradient\nfree a\nend m\n");
  const CategoryBytes& peak = done.ended[0].devices[0].peak.by_category;
  EXPECT_EQ(peak[static_cast<std::size_t>(Category::Parameter)], 10);
  EXPECT_EQ(peak[static_cast<std::size_t>(Category::Activation)], 5);
  EXPECT_EQ(peak[static_cast<std::size_t>(Category::Gradient)], 0);
}

TEST(ScopeSpans, OfEqualMomentsTheFirstIsThePeak) {
  // 10 is reached at event 1, again at 4 after an empty call, and again inside another call.
  const Spans done(
      "begin m\nalloc a 10\nbegin c\nend c\nrelabel a Other\nfree a\nbegin c\nalloc b 10\n"
      "end c\nend m\n");
  EXPECT_EQ(done.path(2), "m");
  EXPECT_EQ(done.ended[2].devices[0].peak_event, 1);
  EXPECT_EQ(done.ended[0].devices[0].peak_event, 2);  // the call's own begin
  EXPECT_EQ(done.ended[1].devices[0].peak_event, 7);
}

TEST(ScopeSpans, ACallThatBeganWhileNothingChangedHasItsPeakAtItsOwnBegin) {
  const Spans done(
      "alloc a 10\nbegin m\nmark x\nbegin n\nmark y\nbegin o\nfree a\nend n\n"
      "end m\nend o\n");
  EXPECT_EQ(done.ended[0].devices[0].peak_event, 3);
  EXPECT_EQ(done.ended[1].devices[0].peak_event, 1);
  EXPECT_EQ(done.ended[2].devices[0].peak_event, 5);
}

TEST(ScopeSpans, ChildrenSeeOnlyTheirOwnPeakAndParentsSeeAll) {
  const Spans done(
      "begin m\nalloc a 90\nfree a\nbegin m.x\nalloc b 7\nfree b\nend m.x\nbegin m.y\nalloc c 9\n"
      "free c\nend m.y\nend m\n");
  EXPECT_EQ(done.path(0), "m.x");
  expect_bytes(done.ended[0], 0, 7, 0);
  expect_bytes(done.ended[1], 0, 9, 0);
  expect_bytes(done.ended[2], 0, 90, 0);
}

TEST(ScopeSpans, AParentMayEndBeforeItsChild) {
  const Spans done(
      "begin m\nalloc a 10\nbegin m.x\nfree a\nalloc b 4\nend m\nalloc c 8\nend m.x\n");
  EXPECT_EQ(done.path(0), "m");
  expect_bytes(done.ended[0], 0, 10, 4);
  expect_bytes(done.ended[1], 10, 12, 12);
}

TEST(ScopeSpans, AScopeInsideItselfIsTwoCalls) {
  const Spans done(
      "begin m\nalloc a 10\nbegin m\nalloc b 5\nend m\nfree a\nfree b\nalloc c 40\nend m\n");
  ASSERT_EQ(done.ended.size(), 2u);
  expect_bytes(done.ended[0], 10, 15, 15);  // the inner call ends first
  expect_bytes(done.ended[1], 0, 40, 40);
}

TEST(ScopeSpans, ARecomputeInsideABackwardOfTheSameScopeKeepsThemApart) {
  const Spans done(
      "phase backward\nbegin m\nalloc g 10\nphase recompute\nbegin m\nalloc a 5\nphase backward\n"
      "end m\nphase recompute\nfree g\nend m\n");
  ASSERT_EQ(done.ended.size(), 2u);
  // The backward call began first and ends first: an end means the call of its phase.
  EXPECT_EQ(done.ended[0].phase, Phase::Backward);
  expect_bytes(done.ended[0], 0, 15, 15);
  EXPECT_EQ(done.ended[1].phase, Phase::Recompute);
  expect_bytes(done.ended[1], 10, 15, 5);
}

TEST(ScopeSpans, AnEndInAnotherPhaseEndsTheNewestCall) {
  const Spans done("begin m phase=forward\nbegin m phase=recompute\nend m phase=optimizer\n");
  EXPECT_EQ(done.ended[0].phase, Phase::Recompute);
  EXPECT_EQ(done.closed_in_time, 1u);
}

TEST(ScopeSpans, DevicesHaveTheirOwnNumbers) {
  const Spans done(
      "alloc a 10\ndevice cuda:0\nalloc b 1\nbegin m\nalloc c 600\nfree c\nfree a\nend m\n");
  expect_bytes(done.ended[0], 10, 10, 0, 0);
  expect_bytes(done.ended[0], 512, 512 + 1024, 512, 1);
}

TEST(ScopeSpans, ADeviceThatAppearsInsideWasEmptyBefore) {
  const Spans done("alloc a 10\nbegin m\nbegin m.x\ndevice cuda:0\nalloc b 1\nend m.x\nend m\n");
  expect_bytes(done.ended[0], 0, 512, 512, 1);
  expect_bytes(done.ended[1], 0, 512, 512, 1);
}

TEST(ScopeSpans, AStorageBornTwiceOnAnotherDeviceCountsWhereItIsNow) {
  const Spans done("alloc a 10\ndevice cuda:0\nalloc b 1\nbegin m\nalloc a 1\nend m\n");
  expect_bytes(done.ended[0], 10, 10, 0, 0);
  expect_bytes(done.ended[0], 512, 1024, 1024, 1);
}

TEST(ScopeSpans, ScopesLeftOpenEndWithTheTapeNewestFirst) {
  const Spans done("begin m\nalloc a 10\nbegin n\nalloc b 5\n");
  EXPECT_EQ(done.closed_in_time, 0u);
  ASSERT_EQ(done.ended.size(), 2u);
  EXPECT_EQ(done.path(0), "n");
  expect_bytes(done.ended[0], 10, 15, 15);
  expect_bytes(done.ended[1], 0, 15, 15);
  EXPECT_EQ(done.problems.find("scope-left-open")->count, 2);
}

TEST(ScopeSpans, TheDiagnosticNamesTheScopeLeftOpenThatBeganFirst) {
  const Spans done("mark x\nbegin m\nbegin n\nbegin o\nend n\n");
  EXPECT_EQ(done.problems.find("scope-left-open")->where, "event 1");
}

TEST(ScopeSpans, AnEndWithoutABeginIsNoted) {
  const Spans done("end m\nbegin m\nend m\nend m\n");
  EXPECT_EQ(done.ended.size(), 1u);
  EXPECT_EQ(done.problems.find("scope-not-open")->count, 2);
  EXPECT_EQ(done.problems.find("scope-not-open")->where, "event 0");
}

TEST(ScopeSpans, InputsAndOutputsAreRequestedBytesOfTheCallTheyName) {
  const Spans done(
      "device cuda:0\nalloc x 100\nalloc y 200\nbegin m\ninput x\nbegin m.k\ninput y scope=m\n"
      "output y\nend m.k\noutput x\ninput ghost\nend m\n");
  EXPECT_EQ(done.ended[0].input_bytes, 0);
  EXPECT_EQ(done.ended[0].output_bytes, 200);
  EXPECT_EQ(done.ended[1].input_bytes, 300);
  EXPECT_EQ(done.ended[1].output_bytes, 100);
}

// 254 devices, of which the last has bytes, and `begins` calls open at once.
std::string many_devices(int begins) {
  std::string lines;
  for (int i = 0; i < 253; ++i) lines += "device d" + std::to_string(i) + "\nmap 0 1\n";
  lines += "alloc a 10\n";
  for (int i = 0; i < begins; ++i) lines += "begin m\n";
  return lines;
}

TEST(ScopeSpans, OnlyDevicesWithBytesCostMemory) {
  const Spans done(many_devices(500));
  ASSERT_EQ(done.tape.tables().devices().size(), 254u);
  EXPECT_EQ(done.most_rows, 500u);  // the one device with bytes, in each call
  for (const ScopeSpan& span : done.ended) EXPECT_EQ(span.devices.size(), 1u);
}

TEST(ScopeSpans, ADeviceThatChangesCostsOneRowMoreAtMostForEachCall) {
  std::string lines = many_devices(0);
  for (int i = 0; i < 500; ++i) lines += "begin m\nalloc b 1\nfree b\n";
  EXPECT_LE(Spans(lines).most_rows, 500u + 500u);
}

TEST(ScopeSpans, CallsThatHaveEndedCostNothingWhileOthersAreOpen) {
  // Each call reaches the same height, so that none overtops another; each begins before the one
  // before it has ended, inside one that is open all the time.
  std::string lines = "begin all\n";
  for (int i = 0; i < 2000; ++i)
    lines += "begin s" + std::to_string(i % 2) + "\nalloc a 10\nfree a\n" +
             (i > 0 ? "end s" + std::to_string((i + 1) % 2) + "\n" : "");
  const Spans done(lines);
  EXPECT_LE(done.most_rows, 40u);
  EXPECT_EQ(done.ended.back().devices[0].peak_event, 2);
}

TEST(ScopeSpans, ManyScopesOpenAtOnceStillAnswerRightly) {
  std::string lines;
  for (int i = 0; i < 100; ++i)
    lines += "begin s" + std::to_string(i) + "\nalloc a" + std::to_string(i) + " 1\n";
  lines += "alloc top 1000\nfree top\n";
  for (int i = 0; i < 100; ++i) lines += "end s" + std::to_string(i) + "\n";
  const Spans done(lines);
  ASSERT_EQ(done.ended.size(), 100u);
  for (int i = 0; i < 100; ++i) expect_bytes(done.ended[static_cast<std::size_t>(i)], i, 1100, 100);
}

}  // namespace
}  // namespace tidemark
