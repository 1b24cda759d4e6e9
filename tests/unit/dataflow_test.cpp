// Data flow, categories and tape of a small training step, by hand.
#include "tidemark/engine/dataflow/dataflow.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/growth.h"
#include "tidemark/engine/dataflow/dataflow_tape.h"
#include "tidemark/engine/replay/verify.h"

namespace tidemark::dataflow {
namespace {

// Writes recordings one event after the other.
class WrittenRun {
 public:
  WrittenRun() { recording.device("cpu"); }

  // A tensor of that many floats; objects and addresses are the same number.
  Value tensor(std::uint64_t address, std::int64_t floats = 4) {
    TensorFacts facts;
    facts.tensor = facts.storage = address;
    facts.first_size = static_cast<std::uint32_t>(recording.sizes.size());
    facts.dimensions = 1;
    facts.item_bytes = 4;
    facts.device = device_numbered(0);
    recording.sizes.push_back(floats);
    recording.strides.push_back(1);
    recording.tensors.push_back(facts);
    return {ValueKind::Tensor, static_cast<std::uint32_t>(recording.tensors.size() - 1), 1};
  }

  // What comes until close() happens inside of the operator.
  void open(const char* name, const std::vector<Value>& inputs,
            RecordScope scope = RecordScope::Function) {
    Operator op;
    op.first_input = static_cast<std::uint32_t>(recording.inputs.size());
    op.input_count = static_cast<std::uint32_t>(inputs.size());
    op.scope = scope;
    recording.inputs.insert(recording.inputs.end(), inputs.begin(), inputs.end());
    open_.push_back(recording.events.size());
    add(EventKind::Operator, static_cast<std::uint32_t>(recording.operators.size()), name);
    recording.operators.push_back(op);
  }
  void close() {
    recording.events[open_.back()].end_ns = ++now;
    open_.pop_back();
  }
  void call(const char* name, const std::vector<Value>& inputs, std::uint64_t born = 0) {
    open(name, inputs);
    if (born) allocate(born, 16);
    close();
  }

  void allocate(std::uint64_t address, std::int64_t bytes) {
    add(EventKind::Allocation, static_cast<std::uint32_t>(recording.allocations.size()), "");
    recording.allocations.push_back({address, bytes, device_numbered(0)});
  }

  void add(EventKind kind, std::uint32_t detail, const char* name) {
    dataflow::Event event;
    event.kind = kind;
    event.detail = detail;
    event.start_ns = event.end_ns = ++now;
    event.thread = 1;
    if (*name) event.name = recording.names.intern(name);
    recording.events.push_back(event);
  }

  std::unique_ptr<const Dataflow> find() {
    return find_dataflow(std::move(recording), operators::find_schemas);
  }

  Recording recording;
  std::int64_t now = 1000;

 private:
  std::vector<std::size_t> open_;  // events
};

// Labels by address, of the last version.
std::map<std::uint64_t, std::string> labels(const Dataflow& found) {
  std::map<std::uint64_t, std::string> labels;
  for (std::uint32_t k = 0; k < found.keys.size(); ++k)
    labels[found.keys.all[k].pointer] = name_of(found.labels(KeyId(k), found.flow.versions[k]));
  return labels;
}

// y = x * w; its backward makes a gradient, which is kept; w.add_(gradient).
std::unique_ptr<const Dataflow> step() {
  constexpr std::uint64_t kX = 64, kW = 128, kY = 192, kGradient = 256;
  WrittenRun run;
  run.call("aten::mul", {run.tensor(kX), run.tensor(kW)}, kY);
  run.open("MulBackward0", {}, RecordScope::BackwardFunction);
  run.call("aten::mul", {run.tensor(kY), run.tensor(kX)}, kGradient);
  run.close();
  run.open("torch::autograd::AccumulateGrad", {run.tensor(kGradient)},
           RecordScope::BackwardFunction);
  run.call("aten::detach", {run.tensor(kGradient)});
  run.close();
  run.call("aten::add_", {run.tensor(kW), run.tensor(kGradient), {ValueKind::Int}});
  return run.find();
}

TEST(Dataflow, AStepWithoutModulesIsUnderstood) {
  const auto found = step();
  EXPECT_TRUE(found->diagnostics.empty());
  const std::map<std::uint64_t, std::string> expected = {
      {64, "Input"}, {128, "Parameter"}, {192, "Activation"}, {256, "Gradient"}};
  EXPECT_EQ(labels(*found), expected);
}

TEST(Dataflow, WritingBeginsAVersionAndAllocatingTheFirst) {
  const auto found = step();
  ASSERT_EQ(found->flow.nodes.size(), 4u);
  const auto last = found->flow.edges_of(3);
  ASSERT_EQ(last.size(), 2u);
  EXPECT_EQ(last[0].input_version, 0);
  EXPECT_EQ(last[0].change, Change::Written);
  EXPECT_EQ(last[0].output_version(), 1);
  EXPECT_EQ(last[1].change, Change::None);
  EXPECT_TRUE(found->flow.edges_of(0).back().is_allocation());
}

TEST(Dataflow, WhatIsMadeAndFreedInsideIsTemporary) {
  WrittenRun run;
  run.open("aten::mul", {run.tensor(64), {ValueKind::Float}});
  run.allocate(192, 16);
  run.call("aten::neg", {run.tensor(192)});
  run.allocate(192, -16);
  run.close();
  const auto found = run.find();
  EXPECT_EQ(labels(*found).at(192), "Temporary");
  EXPECT_TRUE(found->flow.edges_of(0).back().is_intermediate());
}

TEST(Dataflow, AnAddressThatIsUsedAgainIsAnotherStorage) {
  WrittenRun run;
  run.call("aten::neg", {run.tensor(64)});
  run.allocate(64, 40);  // nobody saw the first one die
  run.call("aten::neg", {run.tensor(64, 10)});
  const auto found = run.find();
  EXPECT_EQ(found->keys.size(), 2u);
  EXPECT_EQ(found->sizes, (std::vector<std::int64_t>{16, 40}));
  EXPECT_NE(found->diagnostics.find("reused-address"), nullptr);
}

TEST(Dataflow, TheTapeHasEveryByteOnce) {
  const auto found = step();
  const Tape tape = tape_of_dataflow(*found, {{"run.kind", "profile"}});
  EXPECT_TRUE(verify(tape).empty());
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < tape.size(); ++i)
    if (tape[i].kind == Kind::Alloc) bytes += tape[i].bytes;
  EXPECT_EQ(bytes, 4 * 16);
  EXPECT_EQ(tape.tables().meta().at("run.kind"), "profile");
}

TEST(Dataflow, ARunInWhichNothingHappenedIsAnEmptyTape) {
  const auto found = WrittenRun().find();
  EXPECT_TRUE(found->timeline.empty());
  EXPECT_EQ(tape_of_dataflow(*found).size(), 0u);
}

TEST(Dataflow, MicrosecondsAreRoundedAsPythonDoes) {
  EXPECT_EQ(microseconds_as_python(1'999), 1);
  // Doubles near 1.7e15 are a quarter apart: 0.875 and more rounds up to the next whole number.
  EXPECT_EQ(microseconds_as_python(1'700'000'000'000'000'874), 1'700'000'000'000'000);
  EXPECT_EQ(microseconds_as_python(1'700'000'000'000'000'875), 1'700'000'000'000'001);
  EXPECT_EQ(microseconds_as_python(1'700'000'000'000'001'000), 1'700'000'000'000'001);
}

TEST(Dataflow, CostGrowsWithTheRunAlone) {
  const auto work = [](int steps) {
    WrittenRun run;
    for (int i = 0; i < steps; ++i) {
      const auto at = static_cast<std::uint64_t>(i) * 64 + 64;
      run.call("aten::mul", {run.tensor(at), run.tensor(at)}, at + 64);
      run.call("aten::add_", {run.tensor(64), run.tensor(at), {ValueKind::Int}});
    }
    EXPECT_EQ(run.find()->flow.nodes.size(), 2u * static_cast<unsigned>(steps));
  };
  EXPECT_LT(test::growth_by_eight(1000, work), test::kBetweenLinearAndQuadratic);
}

}  // namespace
}  // namespace tidemark::dataflow
