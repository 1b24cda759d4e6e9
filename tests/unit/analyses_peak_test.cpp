// Peak: how much, when, and what was alive.
#include "tidemark/engine/analyses/peak.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/support/written_tape.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/text_reader.h"

namespace tidemark {
namespace {

using test::cpu_tape;

std::int64_t in(const DevicePeak& peak, Category category) {
  return peak.categories[static_cast<std::size_t>(category)];
}

TEST(Peak, NamesTheBytesTheMomentAndTheCategories) {
  const PeakAnswer answer =
      find_peak(cpu_tape("alloc w 100 Parameter\n"                                 // event 0: 100
                         "step\n"                                                  // event 1
                         "phase forward\n"                                         // event 2
                         "begin net.fc\n"                                          // event 3
                         "@70 alloc x 30 Activation op=aten::mm at=train.py:12\n"  // event 4: 130
                         "free x\n"));
  ASSERT_EQ(answer.devices.size(), 1u);
  const DevicePeak& peak = answer.devices[0];
  EXPECT_EQ(peak.device, "cpu");
  EXPECT_EQ(peak.allocated_bytes, 130);
  EXPECT_EQ(in(peak, Category::Parameter), 100);
  EXPECT_EQ(in(peak, Category::Activation), 30);
  EXPECT_EQ(peak.at.event, 4);
  EXPECT_EQ(peak.at.time_ns, 70);
  EXPECT_EQ(peak.at.step, 1);
  EXPECT_EQ(peak.at.phase, Phase::Forward);
  EXPECT_EQ(peak.at.scope, "net.fc");
  EXPECT_EQ(peak.at.op, "aten::mm");
  EXPECT_EQ(peak.at.source, "train.py:12");
  EXPECT_EQ(answer.events, 6);
  EXPECT_EQ(answer.steps, 1);
}

TEST(Peak, TellsAllocatedFromRequestedBytes) {
  const Tape tape = read_tape_text("tape 1\ndevice cuda:0\nalloc a 100\nalloc b 513\n");
  const DevicePeak peak = find_peak(tape).devices.at(0);
  EXPECT_EQ(peak.allocated_bytes, 512 + 1024);
  EXPECT_EQ(peak.requested_bytes, 613);
}

TEST(Peak, GivesEachStorageToTheScopeThatLabelledItElseToThatOfItsBirth) {
  const auto answer =
      find_peak(cpu_tape("alloc w 100\n"
                         "relabel w Parameter scope=net.fc\n"
                         "begin net.fc\n"
                         "alloc x 30 Activation\n"
                         "alloc y 7 Activation scope=net.act\n"
                         "end net.fc\n"
                         "relabel y Other\n"
                         "alloc z 50 Input\n"));
  const std::vector<ScopeShare>& owners = answer.devices.at(0).owners;
  ASSERT_EQ(owners.size(), 3u);
  EXPECT_EQ(owners[0].scope, "net.fc");
  EXPECT_EQ(owners[0].allocated_bytes, 130);
  EXPECT_EQ(owners[0].categories[static_cast<std::size_t>(Category::Parameter)], 100);
  EXPECT_EQ(owners[1].scope, "");
  EXPECT_EQ(owners[1].allocated_bytes, 50);
  EXPECT_EQ(owners[2].scope, "net.act");
  EXPECT_EQ(owners[2].categories[static_cast<std::size_t>(Category::Other)], 7);
}

TEST(Peak, OfEqualMomentsTheFirstIsThePeak) {
  const auto answer = find_peak(cpu_tape("alloc a 10\nfree a\nalloc b 10\n"));
  EXPECT_EQ(answer.devices.at(0).at.event, 0);
  EXPECT_EQ(answer.devices.at(0).largest.at(0).storage, 0);
}

TEST(Peak, ListsTheLargestFirstAndEqualOnesByNumber) {
  PeakOptions options;
  options.top = 3;
  const auto answer =
      find_peak(cpu_tape("alloc a 10\nalloc b 40\nalloc c 10\nalloc d 10\n"), options);
  const DevicePeak& peak = answer.devices.at(0);
  EXPECT_EQ(peak.alive_count, 4);
  ASSERT_EQ(peak.largest.size(), 3u);
  EXPECT_EQ(peak.largest[0].storage, 1);
  EXPECT_EQ(peak.largest[1].storage, 0);
  EXPECT_EQ(peak.largest[2].storage, 2);
}

TEST(Peak, ShowsStoragesAsTheyWereAtThePeak) {
  const auto answer =
      find_peak(cpu_tape("alloc a 10 Activation\nalloc b 20 Unknown\n"  // 30: the peak, at event 1
                         "resize a 4\nrelabel b Gradient\nfree b\nalloc b 5 Temporary\n"));
  const DevicePeak& peak = answer.devices.at(0);
  EXPECT_EQ(peak.at.event, 1);
  ASSERT_EQ(peak.largest.size(), 2u);
  EXPECT_EQ(peak.largest[0].requested_bytes, 20);
  EXPECT_EQ(peak.largest[0].category, Category::Unknown);
  EXPECT_EQ(peak.largest[0].born.event, 1);
  EXPECT_EQ(peak.largest[1].requested_bytes, 10);
}

TEST(Peak, AStepIsSearchedAlone) {
  const Tape tape = cpu_tape("alloc a 100\nstep\nfree a\nalloc b 60\nstep\nalloc c 10\nfree b\n");
  PeakOptions options;
  options.step = 2;
  const auto second = find_peak(tape, options);  // b and c: 60 + 10
  EXPECT_EQ(second.devices.at(0).allocated_bytes, 70);
  EXPECT_EQ(second.devices.at(0).at.event, 5);
  EXPECT_EQ(second.devices.at(0).alive_count, 2);
  options.step = 0;
  EXPECT_EQ(find_peak(tape, options).devices.at(0).allocated_bytes, 100);
}

TEST(Peak, AStepMayBeAtItsHighestAsItBegins) {
  const Tape tape = cpu_tape("alloc a 100\nalloc b 5\nstep\nfree a\nalloc c 60\n");
  PeakOptions options;
  options.step = 1;
  const DevicePeak peak = find_peak(tape, options).devices.at(0);
  EXPECT_EQ(peak.allocated_bytes, 105);
  EXPECT_EQ(peak.at.event, 2);
  EXPECT_EQ(peak.alive_count, 2);
  EXPECT_EQ(peak.largest.at(0).requested_bytes, 100);
}

TEST(Peak, EachDeviceHasItsOwnPeakAndEmptyOnesAreLeftOut) {
  const Tape tape = read_tape_text(
      "tape 1\ndevice cuda:1\ndevice cpu\nalloc a 7\ndevice cuda:0\nalloc b 1\nalloc c 1\n"
      "device cuda:2\nalloc nothing 0\n");
  const auto answer = find_peak(tape);
  ASSERT_EQ(answer.devices.size(), 2u);
  EXPECT_EQ(answer.devices[0].device, "cpu");
  EXPECT_EQ(answer.devices[0].allocated_bytes, 7);
  EXPECT_EQ(answer.devices[1].device, "cuda:0");
  EXPECT_EQ(answer.devices[1].allocated_bytes, 1024);
  PeakOptions options;
  options.device = "cuda:0";
  ASSERT_EQ(find_peak(tape, options).devices.size(), 1u);
  EXPECT_EQ(find_peak(tape, options).devices[0].device, "cuda:0");
}

TEST(Peak, AnUnknownDeviceOrStepIsRefusedWithWhatThereIs) {
  const Tape tape = cpu_tape("alloc a 1\ndevice cuda:0\nalloc b 1\nstep\n");
  PeakOptions device;
  device.device = "cuda:7";
  try {
    find_peak(tape, device);
    FAIL() << "cuda:7 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
    EXPECT_EQ(error.hint(), "the tape has cpu, cuda:0");
  }
  for (std::int64_t step : {-1, 2}) {
    PeakOptions options;
    options.step = step;
    try {
      find_peak(tape, options);
      FAIL() << "step " << step << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::NotFound);
      EXPECT_EQ(error.hint(), "the tape has steps 0 to 1");
    }
  }
}

TEST(Peak, IrregularTapesGiveDiagnosticsAndAnAnswer) {
  const auto answer = find_peak(
      cpu_tape("diagnostic lost warning 3 here \"events lost\"\n"
               "alloc a 10\nfree a\nfree a\nfree ghost\nresize ghost 5\nalloc a 20\nalloc a 30\n"));
  EXPECT_EQ(answer.devices.at(0).allocated_bytes, 30);
  EXPECT_EQ(answer.devices.at(0).alive_count, 1);
  EXPECT_EQ(answer.diagnostics.find("lost")->count, 3);
  EXPECT_EQ(answer.diagnostics.find("double-free")->count, 1);
  EXPECT_EQ(answer.diagnostics.find("free-unknown")->count, 1);
  EXPECT_EQ(answer.diagnostics.find("dead-storage")->count, 1);
  EXPECT_EQ(answer.diagnostics.find("alloc-twice")->count, 1);
}

TEST(Peak, AnEmptyTapeHasNoPeak) {
  const auto answer = find_peak(Tape());
  EXPECT_TRUE(answer.devices.empty());
  EXPECT_EQ(answer.events, 0);
}

TEST(Peak, CanBeAskedWhileTheRunGoesOnAndAgain) {
  TapeBuilder builder;
  PeakAccumulator peak(builder.tables());
  EXPECT_TRUE(peak.answer().devices.empty());
  const StorageId a = builder.alloc(builder.tables().device("cpu"), 10);
  peak.add(builder.last());
  EXPECT_EQ(peak.answer().devices.at(0).allocated_bytes, 10);
  builder.free(a);
  peak.add(builder.last());
  builder.alloc(builder.tables().device("gpu"), 25);  // a device the tables did not have before
  peak.add(builder.last());
  const auto answer = peak.answer();
  ASSERT_EQ(answer.devices.size(), 2u);
  EXPECT_EQ(answer.devices[0].largest.at(0).requested_bytes, 10);
  EXPECT_EQ(answer.devices[1].allocated_bytes, 25);
}

// The slow way: a copy of the live set at each new peak.
TEST(Peak, TheLiveSetAtThePeakIsThatOfACopyMadeThere) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    TapeBuilder builder;
    const DeviceId cpu = builder.tables().device("cpu");
    for (int i = 0; i < 20; ++i) builder.new_storage();
    std::map<std::uint32_t, std::int64_t> alive, at_peak;
    std::int64_t total = 0, peak = 0;
    for (int i = 0; i < 200; ++i) {
      const std::uint32_t number = random() % 20;
      const std::int64_t bytes = random() % 100;
      total -= alive.contains(number) ? alive[number] : 0;
      if (!alive.contains(number)) builder.alloc_as(StorageId(number), cpu, bytes, {});
      else if (bytes < 40) builder.resize(StorageId(number), bytes);
      else builder.free(StorageId(number));
      if (alive.contains(number) && bytes >= 40) alive.erase(number);
      else total += alive[number] = bytes;
      if (total > peak) peak = total, at_peak = alive;
    }
    PeakOptions options;
    options.top = 1000;
    const DevicePeak found = find_peak(builder.finish(), options).devices.at(0);
    std::map<std::uint32_t, std::int64_t> listed;
    for (const StorageFact& fact : found.largest)
      listed[static_cast<std::uint32_t>(fact.storage)] = fact.requested_bytes;
    EXPECT_EQ(found.allocated_bytes, peak) << "seed " << seed;
    EXPECT_EQ(listed, at_peak) << "seed " << seed;
    EXPECT_EQ(found.alive_count, static_cast<std::int64_t>(at_peak.size())) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tidemark
