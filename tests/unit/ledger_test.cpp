// The ledger: bytes by device and category after each event.
#include "tidemark/engine/replay/ledger.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/written_tape.h"
#include "tidemark/engine/tape/builder.h"

namespace tidemark {
namespace {

std::int64_t bytes_of(const LedgerRow& row, Category category) {
  return row.by_category[static_cast<std::size_t>(category)];
}

// A ledger that has seen the whole of a text.
struct Rows {
  explicit Rows(const std::string& lines) : tape(test::written_tape(lines)), ledger(tape.tables()) {
    for (std::size_t i = 0; i < tape.size(); ++i) ledger.add(tape[i]);
  }
  const LedgerRow& row(const char* device) const {
    return ledger.row(tape.tables().find_device(device));
  }

  Tape tape;
  Ledger ledger;
};

TEST(Ledger, AllocatedBytesAreRoundedAndRequestedOnesAreNot) {
  const Rows done("device cuda:0\nalloc a 100 Parameter\nalloc b 513 Gradient\n");
  EXPECT_EQ(done.row("cuda:0").requested, 613);
  EXPECT_EQ(done.row("cuda:0").allocated, 512 + 1024);
  EXPECT_EQ(bytes_of(done.row("cuda:0"), Category::Gradient), 1024);
}

TEST(Ledger, AFreeTakesAwayWhatTheStorageHasThen) {
  const Rows done("device cpu\nalloc a 100 Input\nresize a 30\nrelabel a Other\nfree a\n");
  EXPECT_EQ(done.row("cpu").allocated, 0);
  EXPECT_EQ(done.row("cpu").requested, 0);
  EXPECT_EQ(done.row("cpu").by_category, CategoryBytes{});
}

TEST(Ledger, ARelabelMovesBytesBetweenCategories) {
  const Rows done("device cpu\nalloc a 100 Activation\nrelabel a Gradient\n");
  EXPECT_EQ(bytes_of(done.row("cpu"), Category::Activation), 0);
  EXPECT_EQ(bytes_of(done.row("cpu"), Category::Gradient), 100);
}

TEST(Ledger, DevicesAreApart) {
  const Rows done("device cpu\nalloc a 5\ndevice cuda:1\nalloc b 5\n");
  EXPECT_EQ(done.row("cpu").allocated, 5);
  EXPECT_EQ(done.row("cuda:1").allocated, 512);
}

TEST(Ledger, ABlockIsChargedInPlaceOfWhatItsDeviceRoundsTo) {
  const Rows done("device cuda:0\nalloc a 11000000 Activation\nblock a 12582912\nalloc b 1\n");
  EXPECT_EQ(done.row("cuda:0").allocated, 12582912 + 512);
  EXPECT_EQ(done.row("cuda:0").requested, 11000001);
  EXPECT_EQ(bytes_of(done.row("cuda:0"), Category::Activation), 12582912);
}

TEST(Ledger, ABlockGoesWithItsStorageAndStaysThroughALabel) {
  const std::string block = "device cuda:0\nalloc a 100 Activation\nblock a 4096\n";
  const Rows labelled(block + "relabel a Gradient\n");
  EXPECT_EQ(bytes_of(labelled.row("cuda:0"), Category::Gradient), 4096);
  EXPECT_EQ(bytes_of(labelled.row("cuda:0"), Category::Activation), 0);
  EXPECT_EQ(Rows(block + "free a\n").row("cuda:0").allocated, 0);
  EXPECT_EQ(Rows(block + "free a\nalloc a 100\n").row("cuda:0").allocated, 512);
  EXPECT_EQ(Rows(block + "resize a 600\n").row("cuda:0").allocated, 1024);
}

TEST(Ledger, ABlockThatCannotBeIsMended) {
  EXPECT_EQ(Rows("device cuda:0\nalloc a 600\nblock a 100\n").row("cuda:0").allocated, 600);
  EXPECT_EQ(Rows("device cuda:0\nalloc a 600\nblock a 0\n").row("cuda:0").allocated, 1024);
  const Rows dead("device cuda:0\nalloc a 600\nfree a\nblock a 4096\n");
  EXPECT_EQ(dead.row("cuda:0").allocated, 0);
  EXPECT_EQ(dead.ledger.diagnostics().all().at(0).code, "dead-storage");
}

TEST(Ledger, ADeviceWithoutEventsIsEmpty) {
  const Rows done("device cpu\nstep\n");
  EXPECT_EQ(done.row("cpu").allocated, 0);
  EXPECT_EQ(done.ledger.row(DeviceId(200)).allocated, 0);
}

TEST(Ledger, TheMomentCountsEventsAndSteps) {
  const Rows done("@5 mark x\nstep\n@90 step\nmark y\n");
  EXPECT_EQ(done.ledger.now().event, 3);
  EXPECT_EQ(done.ledger.now().time_ns, 91);
  EXPECT_EQ(done.ledger.now().step, 2);
}

TEST(Ledger, ProblemsChangeNothingAndAreNoted) {
  const Rows done(
      "device cpu\nalloc a 10\nfree a\nfree a\nresize a 50\nrelabel a Other\nfree ghost\n");
  EXPECT_EQ(done.row("cpu").allocated, 0);
  EXPECT_EQ(done.ledger.diagnostics().find("double-free")->where, "event 2");
  EXPECT_EQ(done.ledger.diagnostics().find("dead-storage")->count, 2);
  EXPECT_EQ(done.ledger.diagnostics().find("free-unknown")->count, 1);
}

TEST(Ledger, AStorageBornTwiceReplacesItselfEvenOnAnotherDevice) {
  const Rows done("device cpu\nalloc a 10 Input\ndevice cuda:0\nalloc a 700 Other\n");
  EXPECT_EQ(done.row("cpu").allocated, 0);
  EXPECT_EQ(done.row("cuda:0").allocated, 1024);
}

TEST(Ledger, InputsAndOutputsMoveNoBytes) {
  const Rows done("device cpu\nalloc a 10\nbegin m\ninput a\noutput a\nend m\n");
  EXPECT_EQ(done.row("cpu").allocated, 10);
}

TEST(Ledger, ANegativeSizeCountsAsZero) {
  TapeBuilder builder;
  builder.alloc(builder.tables().device("cpu"), -7);
  const Tape tape = builder.finish();
  Ledger ledger(tape.tables());
  ledger.add(tape[0]);
  EXPECT_EQ(ledger.row(DeviceId(0)).allocated, 0);
  EXPECT_NE(ledger.diagnostics().find("negative-size"), nullptr);
}

TEST(Ledger, ATotalPast63BitsStopsThereAndIsNoted) {
  const Rows done("device cpu\nalloc a 8388607TiB\nalloc b 8388607TiB\n");
  EXPECT_EQ(done.row("cpu").allocated, INT64_MAX);
  EXPECT_NE(done.ledger.diagnostics().find("total-overflow"), nullptr);
}

TEST(Ledger, DevicesMayAppearWhileTheRunGoesOn) {
  TapeBuilder builder;
  Ledger ledger(builder.tables());
  builder.alloc(builder.tables().device("cpu"), 3);
  ledger.add(builder.last());
  const DeviceId late = builder.tables().device("cuda:3");
  builder.alloc(late, 3);
  ledger.add(builder.last());
  EXPECT_EQ(ledger.row(late).allocated, 512);
  EXPECT_EQ(ledger.row(DeviceId(0)).allocated, 3);
}

}  // namespace
}  // namespace tidemark
