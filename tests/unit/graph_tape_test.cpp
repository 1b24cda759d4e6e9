// A graph as a tape: births, deaths, modules and lines.
#include "tidemark/engine/graph/graph_tape.h"

#include <gtest/gtest.h>

#include "tidemark/engine/base/rounding.h"
#include "tidemark/engine/graph/builder.h"
#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/tape/text_reader.h"
#include "tidemark/engine/tape/text_writer.h"

namespace tidemark {
namespace {

// x and a weight go through two modules; the first's result dies in the second.
Graph two_modules() {
  GraphBuilder builder;
  const DeviceId device = builder.device("cpu");
  const StorageId x = builder.add_storage(device, 1), weight = builder.add_storage(device, 2),
                  hidden = builder.add_storage(device, 4), result = builder.add_storage(device, 8);
  builder.set_category(x, Category::Input);
  builder.set_category(weight, Category::Parameter);
  builder.set_category(hidden, Category::Temporary);
  builder.set_category(result, Category::Activation);
  const NodeId in = builder.add_node(NodeKind::Input, {}, {&x, 1});
  builder.set_text(in, {.name = "x"});
  const NodeId w = builder.add_node(NodeKind::Constant, {}, {&weight, 1});
  builder.set_text(w, {.name = "w"});
  const std::vector<NodeId> both{in, w};
  const NodeId first = builder.add_node(NodeKind::Compute, both, {&hidden, 1});
  builder.set_text(first, {.name = "mm",
                           .op = "aten::mm",
                           .scope = "net.0",
                           .file = "m.py",
                           .line = 5,
                           .phase = Phase::Forward});
  const NodeId second = builder.add_node(NodeKind::Compute, {&first, 1}, {&result, 1});
  builder.set_text(second,
                   {.name = "relu", .op = "aten::relu", .scope = "net.1", .phase = Phase::Forward});
  builder.add_node(NodeKind::Output, {&second, 1}, {});
  return builder.finish();
}

TEST(GraphTape, TellsOfBirthsDeathsModulesAndLines) {
  const Graph graph = two_modules();
  const Tape tape = tape_of_graph(Accounts(graph));
  const Tape expected = read_tape_text(R"(tape 1
device cpu
alloc s0 1 Input op=x sig=x
alloc s1 2 Parameter op=w sig=w
step
phase forward
begin net
begin net.0
call aten::mm mm at=m.py:5
alloc s2 4 Temporary op=aten::mm sig=mm at=m.py:5
return aten::mm mm at=m.py:5
end net.0
begin net.1
call aten::relu relu
alloc s3 8 Activation op=aten::relu sig=relu
return aten::relu relu
free s2 op=aten::relu sig=relu
end net.1
end net
)");
  EXPECT_EQ(write_tape_text(tape), write_tape_text(expected));
  EXPECT_TRUE(verify(tape).empty());
}

TEST(GraphTape, TellsWhatWasRequestedAndLeavesRoundingToTheDevice) {
  GraphBuilder builder;
  const StorageId s = builder.add_storage(builder.device("cuda:0"), 1000);
  builder.add_node(NodeKind::Compute, {}, {&s, 1});
  const Graph graph = builder.finish();
  GraphOptions options;
  options.granularity = 512;
  const Accounts accounts(graph, options);
  EXPECT_EQ(accounts.bytes(s), 1024);
  const Tape tape = tape_of_graph(accounts);
  const Tape expected = read_tape_text(R"(tape 1
device cuda:0
step
call "node 0"
alloc s0 1000 op="node 0"
return "node 0"
)");
  EXPECT_EQ(write_tape_text(tape), write_tape_text(expected));
  EXPECT_EQ(rounded_up(1000, tape.tables().devices()[0].granularity), 1024);
}

TEST(GraphTape, WhatTheGraphLeftOutIsSaidByTheTape) {
  GraphBuilder builder;
  builder.diagnostics().add("sub-graph", Severity::Warning, "cond", "it is not counted", 3);
  builder.add_node(NodeKind::Compute, {}, {});
  const Graph graph = builder.finish();
  EXPECT_EQ(tape_of_graph(Accounts(graph)).diagnostics(), graph.diagnostics());
  EXPECT_EQ(graph.diagnostics().find("sub-graph")->count, 3);
}

TEST(GraphTape, DevicesThatDoNotCountAreLeftOut) {
  GraphBuilder builder;
  const StorageId a = builder.add_storage(builder.device("cpu"), 1),
                  b = builder.add_storage(builder.device("cuda:0"), 2);
  const std::vector<StorageId> both{a, b};
  builder.add_node(NodeKind::Compute, {}, both);
  const Graph graph = builder.finish();
  GraphOptions options;
  options.devices = {"cuda:0"};
  const Tape tape = tape_of_graph(Accounts(graph, options));
  ASSERT_EQ(tape.tables().devices().size(), 1u);
  EXPECT_EQ(tape.tables().devices()[0].name, "cuda:0");
}

}  // namespace
}  // namespace tidemark
