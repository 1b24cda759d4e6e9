// Rows of a trace: totals that go on, whatever the trace leaves out.
#include "tidemark/readers/kineto/trace_reader.h"

#include <gtest/gtest.h>

#include "tidemark/engine/replay/ledger.h"
#include "tidemark/engine/replay/verify.h"

namespace tidemark::kineto {
namespace {

std::string memory(int time, int address, int bytes, int total) {
  return R"({"ph": "i", "name": "[memory]", "tid": 1, "ts": )" + std::to_string(time) +
         R"(, "args": {"Device Type": 0, "Device Id": -1, "Addr": )" + std::to_string(address) +
         R"(, "Bytes": )" + std::to_string(bytes) + R"(, "Total Allocated": )" +
         std::to_string(total) + "}}";
}

Tape read(const std::string& events) {
  const std::string text = "[" + events + "]";
  MemorySource source(text);
  return read_trace(source, false);
}

// What is live when all is over.
std::int64_t live_at_end(const Tape& tape) {
  Ledger ledger(tape.tables());
  for (std::size_t i = 0; i < tape.size(); ++i) ledger.add(tape[i]);
  return ledger.row(DeviceId(0)).allocated;
}

TEST(TraceReader, AnAddressThatIsHandedOutAgainWasFreed) {
  const Tape tape = read(memory(1, 5, 100, 100) + "," + memory(2, 5, 30, 30));
  EXPECT_EQ(live_at_end(tape), 30);
  EXPECT_NE(tape.diagnostics().find("free-unseen"), nullptr);
  EXPECT_TRUE(verify(tape).problems().empty());
}

TEST(TraceReader, WhatOnlyTheTotalShowsIsUnknown) {
  const Tape tape = read(memory(1, 5, 100, 100) + "," + memory(2, 6, 10, 150));
  EXPECT_EQ(live_at_end(tape), 150);
  EXPECT_NE(tape.diagnostics().find("allocated-unseen"), nullptr);
}

TEST(TraceReader, ATotalBelowWhatLivesIsAWarning) {
  const Tape tape = read(memory(1, 5, 100, 100) + "," + memory(2, 6, 10, 50));
  EXPECT_EQ(live_at_end(tape), 110);
  ASSERT_NE(tape.diagnostics().find("total-too-low"), nullptr);
  EXPECT_EQ(tape.diagnostics().find("total-too-low")->severity, Severity::Warning);
}

TEST(TraceReader, TimesBeginWithTheFirstEvent) {
  const Tape tape = read(memory(7, 5, 100, 100) + "," + memory(9, 5, -100, 0));
  EXPECT_EQ(tape[0].time_ns, 0);
  EXPECT_EQ(tape[tape.size() - 1].time_ns, 2000);
}

}  // namespace
}  // namespace tidemark::kineto
