// Attribution: when a storage counts, as what, and how high windows saw the total rise.
#include "tidemark/libtorch/attribution/attribution.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tidemark/libtorch/attribution/module_book.h"

namespace tidemark::attribution {
namespace {

Note note(NoteKind kind, StorageKey key = 0, std::int64_t bytes = 0, int flags = kInsideOperator) {
  Note made;
  made.kind = kind;
  made.key = key;
  made.bytes = bytes;
  made.flags = static_cast<std::uint8_t>(flags);
  return made;
}

std::int64_t bytes(const Rows& rows, Category category) {
  return rows.size() ? rows[0].bytes[kMemTracker.slot_of(category)] : 0;
}
std::int64_t total(const Rows& rows) { return rows.size() ? rows[0].total : 0; }

TEST(Attribution, CountsAStorageWhenItsOperatorEnds) {
  Attribution attribution;
  attribution.take(note(NoteKind::Born, 8, 100));
  EXPECT_EQ(total(attribution.current()), 0);
  attribution.take(note(NoteKind::OperatorEnded));
  EXPECT_EQ(bytes(attribution.current(), Category::Activation), 100);
  attribution.take(note(NoteKind::Died, 8));
  EXPECT_EQ(total(attribution.current()), 0);
  EXPECT_EQ(total(attribution.peak()), 100);
}

Rules as_allocators() {
  Rules rules;
  rules.counts_blocks = true;
  return rules;
}

TEST(Attribution, ABlockIsChargedWhetherItsStorageCountsYetOrNot) {
  for (const bool is_late : {false, true}) {
    Attribution attribution(as_allocators());
    attribution.take(note(NoteKind::Born, 8, 100));
    if (!is_late) attribution.take(note(NoteKind::Block, 8, 4096));
    attribution.take(note(NoteKind::OperatorEnded));
    if (is_late) attribution.take(note(NoteKind::Block, 8, 4096));
    EXPECT_EQ(bytes(attribution.current(), Category::Activation), 4096);
    attribution.take(note(NoteKind::Died, 8));
    EXPECT_EQ(total(attribution.current()), 0);
    EXPECT_EQ(total(attribution.peak()), 4096);
  }
}

// Another thread's note of a block does not end the operators of that thread, or of the storage's.
TEST(Attribution, ABlockEndsNoOperator) {
  Attribution attribution(as_allocators());
  attribution.take(note(NoteKind::Born, 8, 100));
  attribution.take(note(NoteKind::Block, 8, 4096, 0));
  EXPECT_EQ(total(attribution.current()), 0);
}

TEST(Attribution, TrackersOfTensorsKnowNoBlocks) {
  Attribution attribution;
  attribution.take(note(NoteKind::Born, 8, 100));
  attribution.take(note(NoteKind::Block, 8, 4096));
  attribution.take(note(NoteKind::OperatorEnded));
  EXPECT_EQ(bytes(attribution.current(), Category::Activation), 100);
}

TEST(Attribution, DoesNotCountWhatDiesInsideItsOperator) {
  Attribution attribution;
  attribution.take(note(NoteKind::Born, 8, 1000));
  attribution.take(note(NoteKind::Born, 16, 10));
  attribution.take(note(NoteKind::Died, 8));
  attribution.take(note(NoteKind::OperatorEnded));
  EXPECT_EQ(total(attribution.peak()), 10);
}

TEST(Attribution, TakesWhatIsNotedOutsideForTheEndOfOperators) {
  Attribution attribution;
  attribution.take(note(NoteKind::Born, 8, 100));
  attribution.take(note(NoteKind::Born, 16, 1000));  // scratch of the second operator
  attribution.take(note(NoteKind::Died, 16));
  attribution.take(note(NoteKind::Born, 24, 10));
  EXPECT_EQ(total(attribution.current()), 0);
  attribution.take(note(NoteKind::Died, 8, 0, 0));
  EXPECT_EQ(total(attribution.current()), 10);
  EXPECT_EQ(total(attribution.peak()), 110);
  attribution.take(note(NoteKind::Born, 32, 5));
  attribution.leave_operators(0);
  EXPECT_EQ(total(attribution.current()), 15);
}

TEST(Attribution, TellsPhasesApartThatNothingStandsBetween) {
  Attribution attribution;
  Window forward = attribution.open_window(false), backward = attribution.open_window(true);
  attribution.take(note(NoteKind::Born, 8, 1));
  attribution.take(note(NoteKind::Born, 16, 2, kInsideOperator | kInBackward));
  attribution.leave_operators(0);
  EXPECT_EQ(bytes(attribution.current(), Category::Activation), 1);
  EXPECT_EQ(bytes(attribution.current(), Category::Temporary), 2);
  attribution.close(forward);
  attribution.close(backward);
  EXPECT_EQ(total(forward.highest), 1);
  EXPECT_EQ(total(backward.highest), 3);
}

TEST(Attribution, KnowsThatAStorageWhichDiesOnAnotherThreadHadLeftItsOperator) {
  Attribution attribution;
  attribution.take(note(NoteKind::Born, 8, 100));
  Note death = note(NoteKind::Died, 8, 0, 0);
  death.thread = 7;
  attribution.take(death);
  EXPECT_EQ(total(attribution.current()), 0);
  EXPECT_EQ(total(attribution.peak()), 100);
}

TEST(Attribution, KnowsThatWhoWaitsForTheEngineHasLeftItsOperators) {
  Attribution attribution;
  attribution.take(note(NoteKind::Born, 8, 100));
  Note backward = note(NoteKind::Born, 16, 10, kInsideOperator | kInBackward);
  backward.thread = 1;
  attribution.take(backward);
  EXPECT_EQ(total(attribution.current()), 100);
  attribution.take(note(NoteKind::Born, 24, 1));
  EXPECT_EQ(total(attribution.current()), 110);
  // Threads that both run forwards do not know of each other.
  Note other = note(NoteKind::Born, 32, 1000);
  other.thread = 2;
  attribution.take(other);
  EXPECT_EQ(total(attribution.current()), 110);
}

TEST(Attribution, DoesNotCountNumbersThatOperatorsAreGiven) {
  Attribution attribution;
  attribution.take(note(NoteKind::Born, 8, 100));
  attribution.take(note(NoteKind::Born, 16, 8, kInsideOperator | kOfNumber));
  attribution.leave_operators(0);
  EXPECT_EQ(total(attribution.current()), 100);
  attribution.take(note(NoteKind::Died, 16, 0, 0));
  EXPECT_EQ(total(attribution.peak()), 100);
}

TEST(Attribution, CountsFromBirthWhereOperatorsAreNotFollowed) {
  Attribution attribution(Rules{.count_at_birth = true});
  attribution.take(note(NoteKind::Born, 8, 1000, 0));
  attribution.take(note(NoteKind::Born, 16, 10, kInBackward));
  attribution.take(note(NoteKind::Died, 8));
  EXPECT_EQ(bytes(attribution.current(), Category::Temporary), 10);
  EXPECT_EQ(bytes(attribution.peak(), Category::Activation), 1000);
  EXPECT_EQ(total(attribution.peak()), 1010);
  attribution.count_at_birth(false);
  attribution.take(note(NoteKind::Born, 24, 1));
  EXPECT_EQ(total(attribution.current()), 10);
}

TEST(Attribution, TellsPhasesApart) {
  Attribution attribution;
  attribution.take(note(NoteKind::Born, 8, 1));
  attribution.take(note(NoteKind::OperatorEnded));
  attribution.take(note(NoteKind::Born, 16, 2, kInsideOperator | kInBackward));
  attribution.take(note(NoteKind::OperatorEnded, 0, 0, kInBackward));
  attribution.work(0).recomputing = true;
  attribution.take(note(NoteKind::Born, 24, 4, kInsideOperator | kInBackward));
  attribution.take(note(NoteKind::OperatorEnded, 0, 0, kInBackward));
  EXPECT_EQ(bytes(attribution.current(), Category::Activation), 1 + 4);
  EXPECT_EQ(bytes(attribution.current(), Category::Temporary), 2);
}

TEST(Attribution, KnowsStateFromScratchOnlyAfterTheStepButCorrectsThePeak) {
  Attribution attribution;
  attribution.begin_optimizer(0);
  attribution.take(note(NoteKind::Born, 8, 100));  // becomes state
  attribution.take(note(NoteKind::OperatorEnded));
  attribution.take(note(NoteKind::Born, 16, 50));  // scratch
  attribution.take(note(NoteKind::OperatorEnded));
  attribution.take(note(NoteKind::Died, 16));
  attribution.label(8, 100, 0, Category::OptimizerState);
  attribution.end_optimizer(0);
  EXPECT_EQ(bytes(attribution.peak(), Category::OptimizerState), 100);
  EXPECT_EQ(bytes(attribution.peak(), Category::Temporary), 50);
}

TEST(Attribution, KeepsTheCategoryOfAStorageThatAnOperatorGrows) {
  Attribution attribution;
  attribution.label(8, 100, 0, Category::Buffer);
  const int resizing = kInsideOperator | kResizes;
  attribution.take(note(NoteKind::Born, 16, 300, resizing));
  attribution.take(note(NoteKind::Died, 8, 0, resizing));
  attribution.take(note(NoteKind::OperatorEnded, 0, 0, kResizes));
  EXPECT_EQ(bytes(attribution.current(), Category::Buffer), 300);
  // Also if another operator ran before, of whose end nobody has told.
  attribution.take(note(NoteKind::Born, 24, 1, resizing));
  attribution.take(note(NoteKind::Born, 32, 400, resizing));
  attribution.take(note(NoteKind::Died, 16, 0, resizing));
  attribution.leave_operators(0);
  EXPECT_EQ(bytes(attribution.current(), Category::Buffer), 400);
  EXPECT_EQ(bytes(attribution.current(), Category::Activation), 1);
}

TEST(Attribution, CountsWhatNoOperatorMadeOnlyIfAsked) {
  for (const bool asked : {false, true}) {
    Attribution attribution({.count_outside_operators = asked});
    attribution.take(note(NoteKind::Born, 8, 100, 0));
    attribution.take(note(NoteKind::Born, 16, 8, 0));  // a number handed to an operator
    attribution.take(note(NoteKind::OperatorEnded));
    attribution.take(note(NoteKind::Died, 16, 0, 0));
    attribution.take(note(NoteKind::OperatorEnded));
    EXPECT_EQ(total(attribution.current()), asked ? 100 : 0);
    EXPECT_EQ(total(attribution.peak()), asked ? 100 : 0);
  }
}

TEST(Attribution, RoundsAsTheDeviceDoes) {
  Granularities granularities{};
  granularities[0] = 512;
  Attribution attribution({}, &granularities);
  attribution.label(8, 1, 0, Category::Parameter);
  attribution.label(16, 513, 0, Category::Parameter);
  EXPECT_EQ(total(attribution.current()), 512 + 1024);
}

TEST(Attribution, FindsThePeakOfEveryWindowAsASlowTwinDoes) {
  std::mt19937 random(1);
  Attribution attribution;
  struct Twin {
    Window window;
    std::int64_t highest;
  };
  std::vector<Twin> open;
  std::map<StorageKey, std::int64_t> alive;
  StorageKey next = 8;
  for (int i = 0; i < 20'000; ++i) {
    const auto what = random() % 10;
    if (what < 4) {
      alive[next] = random() % 1000;
      attribution.take(note(NoteKind::Born, next, alive[next]));
      next += 8;
      attribution.take(note(NoteKind::OperatorEnded));
      for (Twin& twin : open) twin.highest = std::max(twin.highest, total(attribution.current()));
    } else if (what < 8 && !alive.empty()) {
      attribution.take(note(NoteKind::Died, alive.begin()->first));
      alive.erase(alive.begin());
    } else if (what == 8) {
      open.push_back({attribution.open_window(false), total(attribution.current())});
    } else if (!open.empty()) {
      const std::size_t which = random() % open.size();
      attribution.close(open[which].window);
      ASSERT_EQ(total(open[which].window.highest), open[which].highest);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
}

TEST(KeyIndex, AgreesWithAMap) {
  std::mt19937 random(2);
  KeyIndex index;
  std::map<StorageKey, std::uint32_t> twin;
  for (int i = 0; i < 50'000; ++i) {
    const StorageKey key = 64 * (1 + random() % 500);
    if (random() % 2) {
      index.put(key, static_cast<std::uint32_t>(i));
      twin[key] = static_cast<std::uint32_t>(i);
    } else {
      index.erase(key);
      twin.erase(key);
    }
    ASSERT_EQ(index.size(), twin.size());
    ASSERT_EQ(index.find(key), twin.count(key) ? twin[key] : KeyIndex::kNone);
  }
}

TEST(ModuleBook, RecordsTheStatesOfACall) {
  Attribution attribution;
  ModuleBook book(attribution);
  const ModuleNumber module = book.add_module();
  book.begin_forward(module, 0, false);
  attribution.take(note(NoteKind::Born, 8, 100));
  attribution.take(note(NoteKind::OperatorEnded));
  attribution.take(note(NoteKind::Died, 8));
  book.end_forward(module, 0, false);
  book.begin_backward(module, 0);
  book.end_backward(module);
  const ModuleStats& stats = book.stats(module);
  const std::vector<Moment> order = {Moment::PeakForward, Moment::PreForward,
                                     Moment::PostForward, Moment::PeakBackward,
                                     Moment::PreBackward, Moment::PostBackward};
  EXPECT_EQ(stats.order, order);
  EXPECT_EQ(total(stats.snapshots[static_cast<int>(Moment::PeakForward)][0]), 100);
  EXPECT_EQ(total(stats.snapshots[static_cast<int>(Moment::PostForward)][0]), 0);
  EXPECT_FALSE(book.is_active(module));
}

TEST(ModuleBook, ClosesCallsWhoseEndWasLost) {
  Attribution attribution;
  ModuleBook book(attribution);
  const ModuleNumber outer = book.add_module(), inner = book.add_module();
  book.begin_forward(outer, 0, false);
  book.begin_forward(inner, 0, false);
  book.abandon_forward(outer, 0);
  EXPECT_FALSE(book.is_active(outer));
  EXPECT_FALSE(book.is_active(inner));
  EXPECT_EQ(attribution.work(0).modules_open, 0);
}

TEST(Attribution, AThreadWithAPurposeMakesNothingElse) {
  Attribution attribution(Rules{.count_at_birth = true}, nullptr, kTracking);
  const auto of = [&](Category category) {
    return attribution.current()[0].bytes[kTracking.slot_of(category)];
  };
  attribution.work(0).purpose = Category::AllGather;
  attribution.take(note(NoteKind::Born, 8, 100));
  attribution.work(0).purpose = Category::ReduceScatter;
  attribution.take(note(NoteKind::Born, 16, 20, kInBackward));
  attribution.begin_optimizer(0);  // in the backward, as some programs step
  attribution.take(note(NoteKind::Born, 24, 3));
  attribution.end_optimizer(0);
  attribution.work(0).purpose = std::nullopt;
  attribution.take(note(NoteKind::Born, 32, 4000));
  EXPECT_EQ(of(Category::AllGather), 100);
  EXPECT_EQ(of(Category::ReduceScatter), 20);
  EXPECT_EQ(of(Category::Temporary), 3);
  EXPECT_EQ(of(Category::Activation), 4000);
}

// Whatever the thread does, has for a purpose, or gives a gradient to, and however births count.
TEST(Attribution, WhatALibraryTakesForItselfIsAWorkspace) {
  Attribution at_birth(Rules{.count_at_birth = true});
  at_birth.work(0).purpose = Category::AllGather;
  at_birth.take(note(NoteKind::Born, 8, 100, kInsideOperator | kOfLibrary));
  at_birth.begin_optimizer(0);
  at_birth.take(note(NoteKind::Born, 16, 100, kOfLibrary | kOfGradient | kInBackward));
  EXPECT_EQ(at_birth.category_of(8), Category::Workspace);
  EXPECT_EQ(at_birth.category_of(16), Category::Workspace);

  Attribution at_end(Rules{.count_outside_operators = true});
  at_end.take(note(NoteKind::Born, 8, 100, kInsideOperator | kOfLibrary));
  at_end.take(note(NoteKind::Born, 16, 100));
  at_end.take(note(NoteKind::OperatorEnded));
  at_end.take(note(NoteKind::Born, 24, 100, kOfLibrary));
  at_end.take(note(NoteKind::Born, 32, 100, 0));
  at_end.settle(0);
  EXPECT_EQ(at_end.category_of(8), Category::Workspace);
  EXPECT_EQ(at_end.category_of(16), Category::Activation);
  EXPECT_EQ(at_end.category_of(24), Category::Workspace);
  EXPECT_EQ(at_end.category_of(32), Category::Activation);
}

// The end of an operator has a flag of the same number, which says nothing of what waits outside.
TEST(Attribution, AnEndThatNamesItsOutputsMakesNoWorkspaces) {
  Attribution attribution(Rules{.count_outside_operators = true});
  attribution.take(note(NoteKind::Born, 8, 100, 0));
  for (int i = 0; i < 2; ++i) attribution.take(note(NoteKind::OperatorEnded, 0, 0, kOutputsOnly));
  EXPECT_EQ(attribution.category_of(8), Category::Activation);
}

TEST(Attribution, AStorageWithoutMemoryIsBornAgainForThePurposeOfThatMoment) {
  Attribution attribution(Rules{.count_at_birth = true, .knows_steps = true});
  attribution.moved(0, note(NoteKind::Born, 8, 100));
  EXPECT_EQ(attribution.category_of(8), Category::Unknown);
  attribution.work(0).purpose = Category::UnshardedParameter;
  attribution.moved(0, note(NoteKind::Born, 16, 100));
  EXPECT_EQ(attribution.category_of(16), Category::UnshardedParameter);
  attribution.moved(8, note(NoteKind::Born, 24, 200));  // this one had some
  EXPECT_EQ(attribution.category_of(24), Category::Unknown);
}

TEST(Attribution, TheGradientOfAParameterThatWasPutTogetherIsUnsharded) {
  Attribution attribution(Rules{.count_at_birth = true});
  attribution.label(8, 100, 0, Category::UnshardedParameter);
  attribution.label(16, 100, 0, Category::Parameter);
  attribution.take(note(NoteKind::Born, 24, 100, kInBackward));
  attribution.take(note(NoteKind::Born, 32, 100, kInBackward));
  attribution.take_gradient(24, 8);
  attribution.take_gradient(32, 16);
  EXPECT_EQ(attribution.category_of(24), Category::UnshardedGradient);
  EXPECT_EQ(attribution.category_of(32), Category::Gradient);
}

}  // namespace
}  // namespace tidemark::attribution
