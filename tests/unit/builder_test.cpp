// The builder: what each call writes, and what it refuses.
#include "tidemark/engine/tape/builder.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/support/tape_content.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/file_writer.h"

namespace tidemark {
namespace {

ErrorCode code_thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Internal;
}

TEST(TapeBuilder, AnAllocHasItsSizeDeviceAndCategory) {
  TapeBuilder builder;
  const DeviceId cpu = builder.tables().device("cpu");
  const StorageId storage = builder.alloc(cpu, 100, Category::Parameter);
  EXPECT_EQ(storage.value, 0u);
  const Event& e = builder.last();
  EXPECT_EQ(e.kind, Kind::Alloc);
  EXPECT_EQ(e.bytes, 100);
  EXPECT_EQ(e.device, cpu);
  EXPECT_EQ(e.category, Category::Parameter);
  EXPECT_EQ(e.storage(), storage);
}

TEST(TapeBuilder, AFreeCarriesWhatItEnds) {
  TapeBuilder builder;
  const DeviceId cpu = builder.tables().device("cpu");
  const StorageId storage = builder.alloc(cpu, 100, Category::Parameter);
  builder.resize(storage, 300);
  builder.relabel(storage, Category::Buffer);
  builder.free(storage);
  EXPECT_EQ(builder.last().bytes, 300);
  EXPECT_EQ(builder.last().category, Category::Buffer);
  EXPECT_EQ(builder.last().device, cpu);
}

TEST(TapeBuilder, ARelabelCarriesTheSizeAndAResizeTheCategory) {
  TapeBuilder builder;
  const StorageId storage = builder.alloc(builder.tables().device("cpu"), 7, Category::Input);
  builder.relabel(storage, Category::Activation);
  EXPECT_EQ(builder.last().bytes, 7);
  EXPECT_EQ(builder.last().category, Category::Activation);
  builder.resize(storage, 9);
  EXPECT_EQ(builder.last().bytes, 9);
  EXPECT_EQ(builder.last().category, Category::Activation);
}

TEST(TapeBuilder, WithoutATimeEachEventIsANanosecondLater) {
  TapeBuilder builder;
  builder.begin_step();
  EXPECT_EQ(builder.last().time_ns, 0);
  builder.begin_step();
  EXPECT_EQ(builder.last().time_ns, 1);
  builder.set_time(500);
  builder.begin_step();
  builder.begin_step();
  EXPECT_EQ(builder.last().time_ns, 501);
}

TEST(TapeBuilder, TheLastNanosecondOfTimeDoesNotOverflow) {
  TapeBuilder builder;
  builder.set_time(INT64_MAX);
  builder.begin_step();
  builder.begin_step();
  EXPECT_EQ(builder.last().time_ns, INT64_MAX);
}

TEST(TapeBuilder, EventsBelongToTheInnermostOpenScope) {
  TapeBuilder builder;
  const ScopeId outer = builder.tables().scope("outer"), inner = builder.tables().scope("inner");
  builder.begin_scope(outer);
  builder.begin_scope(inner);
  builder.mark("x");
  EXPECT_EQ(builder.last().scope, inner);
  builder.end_scope(inner);
  builder.mark("x");
  EXPECT_EQ(builder.last().scope, outer);
  builder.end_scope(outer);
  builder.mark("x");
  EXPECT_FALSE(builder.last().scope);
}

TEST(TapeBuilder, AParentThatEndsFirstLeavesItsChildOpen) {
  TapeBuilder builder;
  const ScopeId parent = builder.tables().scope("a"), child = builder.tables().scope("a.b");
  builder.begin_scope(parent);
  builder.begin_scope(child);
  builder.end_scope(parent);
  EXPECT_EQ(builder.innermost_scope(), child);
}

TEST(TapeBuilder, EndingAScopeThatIsNotOpenClosesNothing) {
  TapeBuilder builder;
  const ScopeId a = builder.tables().scope("a"), b = builder.tables().scope("b");
  builder.begin_scope(a);
  builder.end_scope(b);
  EXPECT_EQ(builder.innermost_scope(), a);
  EXPECT_EQ(builder.size(), 2u);
}

TEST(TapeBuilder, APlaceOverridesScopeAndPhase) {
  TapeBuilder builder;
  const ScopeId a = builder.tables().scope("a"), b = builder.tables().scope("b");
  builder.begin_scope(a);
  builder.set_phase(Phase::Forward);
  Place place;
  place.scope = b;
  place.phase = Phase::Recompute;
  builder.mark("x", place);
  EXPECT_EQ(builder.last().scope, b);
  EXPECT_EQ(builder.last().phase, Phase::Recompute);
  place.scope = ScopeId();
  builder.mark("x", place);
  EXPECT_FALSE(builder.last().scope);
  builder.mark("x");
  EXPECT_EQ(builder.last().phase, Phase::Forward);
}

TEST(TapeBuilder, IrregularEventsAreWrittenAsTheyCome) {
  TapeBuilder builder;
  const StorageId storage = builder.alloc(builder.tables().device("cpu"), 5);
  builder.free(storage);
  builder.free(storage);
  builder.resize(builder.new_storage(), 3);
  const Tape tape = builder.finish();
  ASSERT_EQ(tape.size(), 4u);
  EXPECT_EQ(tape[2].kind, Kind::Free);
  EXPECT_FALSE(tape[3].device);
}

TEST(TapeBuilder, FinishingLeavesAnEmptyBuilder) {
  TapeBuilder builder;
  builder.tables().set_meta("gpu", "h200");
  builder.alloc(builder.tables().device("cpu"), 5);
  builder.set_phase(Phase::Forward);
  builder.begin_scope(builder.tables().scope("a"));
  const Tape tape = builder.finish();
  EXPECT_EQ(tape.size(), 3u);
  EXPECT_EQ(builder.size(), 0u);
  EXPECT_EQ(builder.phase(), Phase::Other);
  EXPECT_FALSE(builder.innermost_scope());
  EXPECT_TRUE(builder.tables().meta().empty());
  EXPECT_EQ(builder.new_storage().value, 0u);
}

TEST(TapeBuilder, IdsOfAnotherTapeAreRefused) {
  TapeBuilder builder;
  const StorageId storage = builder.alloc(builder.tables().device("cpu"), 1);
  EXPECT_EQ(code_thrown_by([&] { builder.alloc(DeviceId(7), 1); }), ErrorCode::BadArgument);
  EXPECT_EQ(code_thrown_by([&] { builder.alloc(DeviceId(), 1); }), ErrorCode::BadArgument);
  EXPECT_EQ(code_thrown_by([&] { builder.begin_scope(ScopeId()); }), ErrorCode::BadArgument);
  EXPECT_EQ(code_thrown_by([&] { builder.end_scope(ScopeId(3)); }), ErrorCode::BadArgument);
  EXPECT_EQ(code_thrown_by([&] { builder.begin_call(CallId()); }), ErrorCode::BadArgument);
  EXPECT_EQ(code_thrown_by([&] { builder.free(StorageId()); }), ErrorCode::BadArgument);
  EXPECT_EQ(code_thrown_by([&] { builder.map_segment(DeviceId(), 0, 1); }), ErrorCode::BadArgument);
  Place place;
  place.stack = StackId(0);
  EXPECT_EQ(code_thrown_by([&] { builder.free(storage, place); }), ErrorCode::BadArgument);
  EXPECT_FALSE(builder.innermost_scope());
}

TEST(TapeBuilder, ANumberOfTheCallersIsNotGivenOutAgain) {
  TapeBuilder builder;
  const DeviceId cpu = builder.tables().device("cpu");
  builder.alloc_as(StorageId(5), cpu, 1, Category::Other);
  EXPECT_EQ(builder.alloc(cpu, 1).value, 6u);
}

TEST(TapeBuilder, NumbersFarAheadOfTheEventsAreRefused) {
  TapeBuilder builder;
  const DeviceId cpu = builder.tables().device("cpu");
  for (std::size_t i = 0; i < kStoragesAhead; ++i) builder.new_storage();
  EXPECT_EQ(code_thrown_by([&] { builder.alloc(cpu, 1); }), ErrorCode::BadArgument);
  builder.alloc_as(StorageId(kStoragesAhead - 1), cpu, 1, Category::Other);  // just near enough
}

TEST(TapeBuilder, ARowThatSaysEverythingIsWrittenAsItIs) {
  TapeBuilder builder;
  Event row;
  row.kind = Kind::Free;
  row.time_ns = 7;
  row.subject = 3;
  row.bytes = 100;
  row.category = Category::Gradient;
  row.device = builder.tables().device("cpu");
  builder.begin_scope(builder.tables().scope("net"));
  builder.append(row);
  EXPECT_EQ(builder.last(), row);  // neither the open scope nor what is known of the storage
  builder.mark("next");
  EXPECT_EQ(builder.last().time_ns, 8);
  row.device = DeviceId(1);
  EXPECT_EQ(code_thrown_by([&] { builder.append(row); }), ErrorCode::BadArgument);
}

TEST(TapeBuilder, ARowThatNoReaderWouldTakeIsRefused) {
  TapeBuilder builder;
  const DeviceId cpu = builder.tables().device("cpu");
  const auto refuses = [&](Kind kind, std::uint32_t subject, DeviceId device) {
    Event row;
    row.kind = kind;
    row.subject = subject;
    row.device = device;
    return code_thrown_by([&] { builder.append(row); }) == ErrorCode::BadArgument;
  };
  for (Kind kind : {Kind::Alloc, Kind::SegmentMap, Kind::SegmentUnmap, Kind::PoolUse,
                    Kind::PoolRelease, Kind::CacheEmpty}) {
    EXPECT_TRUE(refuses(kind, 0, DeviceId())) << name_of(kind);
    EXPECT_TRUE(refuses(kind, 0, DeviceId(1))) << name_of(kind);
  }
  EXPECT_TRUE(refuses(Kind::Free, kStoragesAhead, DeviceId()));
  EXPECT_TRUE(refuses(Kind::Alloc, UINT32_MAX, cpu));
  EXPECT_TRUE(refuses(Kind::Mark, 0, DeviceId()));  // no text has the number 0 yet
  EXPECT_EQ(builder.size(), 0u);
  EXPECT_FALSE(refuses(Kind::Free, 0, DeviceId()));  // of a storage that nobody knows
  EXPECT_FALSE(refuses(Kind::Alloc, 0, cpu));
  EXPECT_FALSE(refuses(Kind::SegmentMap, UINT32_MAX, cpu));
  EXPECT_NE(verify(builder.finish()).find("free-unknown"), nullptr);
}

// Every call of the builder, once with a good place and once with each wrong one.
using Calls = std::vector<std::function<void(TapeBuilder&, const Place&)>>;
const Calls kCalls = {
    [](TapeBuilder& b, const Place& p) { b.alloc(DeviceId(0), 8, Category::Input, p); },
    [](TapeBuilder& b, const Place& p) { b.alloc_as(StorageId(9), DeviceId(0), 9, {}, p); },
    [](TapeBuilder& b, const Place& p) { b.resize(StorageId(9), 7, p); },
    [](TapeBuilder& b, const Place& p) { b.relabel(StorageId(9), Category::Buffer, p); },
    [](TapeBuilder& b, const Place& p) { b.input(StorageId(9), p); },
    [](TapeBuilder& b, const Place& p) { b.output(StorageId(9), p); },
    [](TapeBuilder& b, const Place& p) { b.begin_scope(ScopeId(0), p); },
    [](TapeBuilder& b, const Place& p) { b.begin_call(CallId(0), p); },
    [](TapeBuilder& b, const Place& p) { b.end_call(CallId(0), p); },
    [](TapeBuilder& b, const Place& p) { b.set_phase(Phase::Forward, p); },
    [](TapeBuilder& b, const Place& p) { b.begin_step(p); },
    [](TapeBuilder& b, const Place& p) { b.mark("text", p); },
    [](TapeBuilder& b, const Place& p) { b.map_segment(DeviceId(0), 3, 5, p); },
    [](TapeBuilder& b, const Place& p) { b.unmap_segment(DeviceId(0), 3, 5, p); },
    [](TapeBuilder& b, const Place& p) { b.use_pool(DeviceId(0), 2, p); },
    [](TapeBuilder& b, const Place& p) { b.release_pool(DeviceId(0), 2, p); },
    [](TapeBuilder& b, const Place& p) { b.empty_cache(DeviceId(0), 0, p); },
    [](TapeBuilder& b, const Place& p) { b.free(StorageId(9), p); },
    [](TapeBuilder& b, const Place& p) { b.end_scope(ScopeId(0), p); }};

std::vector<Place> wrong_places() {
  std::vector<Place> wrong(4);
  wrong[0].stack = StackId(0);
  wrong[1].stream = StreamId(0);
  wrong[2].stack = StackId(7);
  wrong[3].phase = Phase::Optimizer;
  wrong[3].stream = StreamId(3);
  return wrong;
}

std::vector<std::byte> file_of_calls(bool with_wrong_ones) {
  TapeBuilder builder;
  builder.tables().device("cpu");
  builder.tables().scope("net");
  builder.tables().call("aten::mm");
  for (const auto& call : kCalls) {
    for (const Place& wrong : with_wrong_ones ? wrong_places() : std::vector<Place>())
      EXPECT_EQ(code_thrown_by([&] { call(builder, wrong); }), ErrorCode::BadArgument);
    call(builder, {});
  }
  return test::file_of(builder.finish());
}

TEST(TapeBuilder, ACallThatIsRefusedLeavesNoTrace) {
  EXPECT_EQ(file_of_calls(true), file_of_calls(false));
}

TEST(TapeBuilder, ANumberThatWasRefusedIsGivenOutNext) {
  TapeBuilder builder;
  EXPECT_EQ(code_thrown_by([&] { builder.alloc(DeviceId(), 1); }), ErrorCode::BadArgument);
  EXPECT_EQ(code_thrown_by([&] { builder.free(StorageId(kStoragesAhead)); }),
            ErrorCode::BadArgument);
  EXPECT_EQ(builder.new_storage().value, 0u);
}

// A disk that is full until somebody makes room.
class FullSink final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override {
    if (is_full) throw Error(ErrorCode::Unreadable, "no space", "disk");
    inner.write(bytes);
  }
  void flush() override {}
  MemorySink inner;
  bool is_full = false;
};

TEST(TapeBuilder, AnEventThatMeetsAFullDiskIsNotTaken) {
  FullSink disk;
  TapeWriter writer(disk);
  TapeBuilder builder;
  builder.spill_to(writer, true);
  const DeviceId cpu = builder.tables().device("cpu");
  while (builder.size() < kBlockEvents) builder.begin_step();
  disk.is_full = true;
  EXPECT_EQ(code_thrown_by([&] { builder.alloc(cpu, 1); }), ErrorCode::Unreadable);
  EXPECT_EQ(builder.size(), kBlockEvents);
  disk.is_full = false;
  EXPECT_EQ(builder.alloc(cpu, 1).value, 0u);
  const Tape kept = builder.finish();
  EXPECT_EQ(kept.size(), kBlockEvents + 1);
  EXPECT_EQ(test::first_difference(test::tape_of(disk.inner.bytes()), kept), "");
}

TEST(Tape, TheStepOfAnEventCountsTheStepsBegunBeforeIt) {
  TapeBuilder builder;
  builder.mark("set-up");  // 0
  builder.begin_step();    // 1: step 1 begins with this event
  builder.mark("one");     // 2
  builder.begin_step();    // 3
  const Tape tape = builder.finish();
  EXPECT_EQ(tape.step_at(0), 0);
  EXPECT_EQ(tape.step_at(1), 1);
  EXPECT_EQ(tape.step_at(2), 1);
  EXPECT_EQ(tape.step_at(3), 2);
  EXPECT_EQ(tape.step_count(), 2);
}

}  // namespace
}  // namespace tidemark
