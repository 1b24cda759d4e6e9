// The live set, and the keeper that remembers it as it was at the peak.
#include "tidemark/engine/replay/live_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/written_tape.h"
#include "tidemark/engine/replay/peak_keeper.h"

namespace tidemark {
namespace {

// A live set and one keeper a device, fed with a text.
struct Lives {
  static constexpr Needs kNeeds = PeakKeeper::kNeeds;
  explicit Lives(const std::string& lines) : tape(test::cpu_tape(lines)), replay(tape.tables()) {
    for (std::size_t d = 0; d < tape.tables().devices().size(); ++d)
      keepers.emplace_back(device_numbered(d));
    replay.add_all(tape, *this);
  }
  void see(const Event& e, const Change& change, const Replay& now) {
    for (PeakKeeper& keeper : keepers) keeper.see(e, change, now);
  }

  // Storage number and bytes of what was alive at a device's peak.
  std::map<std::uint32_t, std::int64_t> at_peak(std::size_t device = 0) const {
    std::map<std::uint32_t, std::int64_t> alive;
    for (const LiveStorage& one : keepers[device].alive_at_peak(live)) {
      EXPECT_FALSE(alive.contains(one.storage.value));
      alive[one.storage.value] = one.state.bytes();
    }
    return alive;
  }

  Tape tape;
  Replay replay;
  const LiveSet& live = replay.live();
  std::vector<PeakKeeper> keepers;
};

using Alive = std::map<std::uint32_t, std::int64_t>;

TEST(LiveSet, KnowsWhereAndWhenEachStorageWasBorn) {
  const Lives done(
      "step\nphase forward\nbegin m\n@70 alloc a 5 Input op=aten::mm at=t.py:3\nend m\nrelabel a "
      "Other\nresize a 8\n");
  const LiveStorage* a = done.live.find(StorageId(0));
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->born.at.event, 3);
  EXPECT_EQ(a->born.at.time_ns, 70);
  EXPECT_EQ(a->born.at.step, 1);
  EXPECT_EQ(a->born.phase, Phase::Forward);
  EXPECT_EQ(done.tape.tables().scope_path(a->born.scope), "m");
  EXPECT_EQ(done.tape.tables().op_name(a->born.call), "aten::mm");
  EXPECT_EQ(done.tape.tables().source(a->born.stack), "t.py:3");
  EXPECT_EQ(a->state.bytes(), 8);
  EXPECT_EQ(a->state.category(), Category::Other);
}

TEST(LiveSet, ForgetsTheDeadAndKeepsTheRest) {
  const Lives done("alloc a 1\nalloc b 2\nalloc c 3\nfree a\nfree c\n");
  EXPECT_EQ(done.live.find(StorageId(0)), nullptr);
  EXPECT_EQ(done.live.find(StorageId(2)), nullptr);
  EXPECT_EQ(done.live.find(StorageId(99)), nullptr);
  ASSERT_EQ(done.live.size(), 1u);
  EXPECT_EQ(done.live.find(StorageId(1))->state.bytes(), 2);
}

TEST(LiveSet, AStorageBornAgainHasItsSecondBirth) {
  const Lives done("alloc a 1\nfree a\nalloc a 7\n");
  EXPECT_EQ(done.live.find(StorageId(0))->born.at.event, 2);
  EXPECT_EQ(done.live.find(StorageId(0))->state.bytes(), 7);
}

TEST(LiveSet, IrregularEventsDoNotDisturbIt) {
  const Lives done("free ghost\nresize ghost 5\nalloc a 1\nfree a\nfree a\nrelabel a Other\n");
  EXPECT_EQ(done.live.size(), 0u);
}

TEST(PeakKeeper, RemembersWhatHasDiedSinceThePeak) {
  const Lives done("alloc a 10\nalloc b 20\nfree a\nalloc c 5\n");
  EXPECT_EQ(done.keepers[0].row().allocated, 30);
  EXPECT_EQ(done.keepers[0].at().event, 1);
  EXPECT_EQ(done.at_peak(), (Alive{{0, 10}, {1, 20}}));
}

TEST(PeakKeeper, RemembersSizeAndCategoryAsTheyWereThen) {
  const Lives done("alloc a 10 Activation\nresize a 4\nrelabel a Gradient\nresize a 6\n");
  const auto alive = done.keepers[0].alive_at_peak(done.live);
  ASSERT_EQ(alive.size(), 1u);
  EXPECT_EQ(alive[0].state.bytes(), 10);
  EXPECT_EQ(alive[0].state.category(), Category::Activation);
}

// Category of storage 0 at the peak of the first device, by the row and by the storage.
std::pair<Category, Category> labels_at_peak(const std::string& lines) {
  const Lives done(lines);
  const CategoryBytes& bytes = done.keepers[0].row().by_category;
  const auto largest = std::max_element(bytes.begin(), bytes.end()) - bytes.begin();
  for (const LiveStorage& one : done.keepers[0].alive_at_peak(done.live))
    if (one.storage == StorageId(0)) return {static_cast<Category>(largest), one.state.category()};
  return {};
}

TEST(PeakKeeper, TakesLabelsUntilAStorageIsBornDiesOrIsResized) {
  const auto both = [](Category category) { return std::pair(category, category); };
  const std::string at_peak = "alloc a 10\nalloc b 1\n", early = "relabel a Input\n",
                    late = "relabel a Other\n";
  EXPECT_EQ(labels_at_peak(at_peak), both(Category::Unknown));
  EXPECT_EQ(labels_at_peak(at_peak + early), both(Category::Input));
  EXPECT_EQ(labels_at_peak(at_peak + early + late), both(Category::Other));
  for (const char* change : {"free b\n", "resize b 0\n", "resize b 1\n", "alloc z 0\n", "free a\n"})
    EXPECT_EQ(labels_at_peak(at_peak + early + change + late), both(Category::Input)) << change;
}

TEST(PeakKeeper, TakesLabelsPastWhatChangesNothingOnItsDevice) {
  const auto other = std::pair(Category::Other, Category::Other);
  for (const char* change : {"step\n", "mark m\n", "free dead\n", "resize dead 7\n",
                             "device cuda:0\nalloc z 9\nfree z\n"})
    EXPECT_EQ(labels_at_peak("alloc a 1\nalloc dead 2\nfree dead\nresize a 10\n" +
                             std::string(change) + "relabel a Other\n"),
              other)
        << change;
}

TEST(PeakKeeper, OfEqualMomentsTheFirstIsThePeak) {
  const Lives done("alloc a 10\nfree a\nalloc b 10\n");
  EXPECT_EQ(done.keepers[0].at().event, 0);
  EXPECT_EQ(done.at_peak(), (Alive{{0, 10}}));
}

TEST(PeakKeeper, AResizeCanBeThePeak) {
  const Lives done("alloc a 10\nalloc b 1\nresize b 90\nfree a\nfree b\n");
  EXPECT_EQ(done.keepers[0].at().event, 2);
  EXPECT_EQ(done.at_peak(), (Alive{{0, 10}, {1, 90}}));
}

TEST(PeakKeeper, AStorageThatDiedAndCameBackIsNotCountedTwice) {
  const Lives done("alloc a 10\nalloc b 5\nfree a\nalloc a 3\nresize a 4\n");
  EXPECT_EQ(done.at_peak(), (Alive{{0, 10}, {1, 5}}));
}

TEST(PeakKeeper, AStorageBornTwiceElsewhereLeavesTheFirstDevicesPeakAlone) {
  const Lives done("alloc a 10\nalloc b 5\ndevice cuda:0\nalloc a 100\nfree a\n");
  EXPECT_EQ(done.at_peak(0), (Alive{{0, 10}, {1, 5}}));
  EXPECT_EQ(done.at_peak(1), (Alive{{0, 100}}));
}

TEST(PeakKeeper, EachDeviceHasItsOwnMoment) {
  const Lives done("alloc a 10\ndevice cuda:0\nalloc b 1\nfree a\nalloc c 1\n");
  EXPECT_EQ(done.keepers[0].at().event, 0);
  EXPECT_EQ(done.keepers[1].at().event, 3);
  EXPECT_EQ(done.keepers[1].row().allocated, 1024);
}

TEST(PeakKeeper, ADeviceThatNeverHadBytesHasNoPeak) {
  EXPECT_FALSE(Lives("alloc a 0\nfree a\n").keepers[0].found());
}

}  // namespace
}  // namespace tidemark
