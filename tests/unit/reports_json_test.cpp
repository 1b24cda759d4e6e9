// Each answer as JSON: every member of docs/formats/json.md, written out by hand.
#include "tidemark/engine/reports/json.h"

#include <gtest/gtest.h>

#include "tests/support/numbers.h"
#include "tidemark/engine/answers/diff.h"
#include "tidemark/engine/answers/leaks.h"
#include "tidemark/engine/answers/lifetimes.h"
#include "tidemark/engine/answers/overview.h"

namespace tidemark {
namespace {

using test::index_of;

DevicePeak gpu_peak() {
  DevicePeak peak{.device = "cuda:0", .allocated_bytes = 1024, .requested_bytes = 1000};
  peak.at = {7, 70, 1, Phase::Backward, "mlp", "aten::mm", "train.py:4"};
  peak.categories[index_of(Category::Gradient)] = 512;
  peak.categories[index_of(Category::Activation)] = 512;
  peak.alive_count = 2;
  peak.largest = {{.storage = 3,
                   .allocated_bytes = 512,
                   .requested_bytes = 500,
                   .category = Category::Gradient,
                   .device = "cuda:0"}};
  peak.owners = {{.scope = "mlp", .allocated_bytes = 512}, {.allocated_bytes = 512}};
  peak.owners[0].categories[index_of(Category::Gradient)] = 512;
  peak.owners[1].categories[index_of(Category::Activation)] = 512;
  peak.modules = {peak.owners[0]};
  peak.sites = {{2, 256, 512, Category::Gradient, "aten::mm", "t.py:1", "f32[64]", ""}};
  peak.lines = {{"", 3, 1024, peak.categories}};
  return peak;
}

TEST(JsonReport, PeakHasEveryMemberAndNullForTheUnknown) {
  const PeakAnswer answer{.devices = {gpu_peak()}, .events = 9, .steps = 1};
  EXPECT_EQ(json_report(answer), R"({
  "schema_version": 2,
  "report": "peak",
  "events": 9,
  "steps": 1,
  "devices": [
    {
      "device": "cuda:0",
      "allocated_bytes": 1024,
      "requested_bytes": 1000,
      "at": {"event": 7, "time_ns": 70, "step": 1, "phase": "backward", "scope": "mlp", "op": "aten::mm", "source": "train.py:4"},
      "categories": {"Gradient": 512, "Activation": 512},
      "alive_count": 2,
      "largest": [
        {"storage": 3, "allocated_bytes": 512, "requested_bytes": 500, "category": "Gradient", "device": "cuda:0", "born": {"event": null, "time_ns": 0, "step": 0, "phase": "other", "scope": null, "op": null, "source": null}}
      ],
      "owners": [
        {"scope": "mlp", "allocated_bytes": 512, "categories": {"Gradient": 512}},
        {"scope": null, "allocated_bytes": 512, "categories": {"Activation": 512}}
      ],
      "modules": [
        {"scope": "mlp", "allocated_bytes": 512, "categories": {"Gradient": 512}}
      ],
      "sites": [
        {"count": 2, "each_bytes": 256, "allocated_bytes": 512, "category": "Gradient", "shape": "f32[64]", "op": "aten::mm", "source": "t.py:1", "scope": null}
      ],
      "lines": [
        {"source": null, "count": 3, "allocated_bytes": 1024, "categories": {"Gradient": 512, "Activation": 512}}
      ]
    }
  ],
  "diagnostics": []
}
)");
}

TEST(JsonReport, ScopesHavePhasesAndSingleCalls) {
  ScopeBytes bytes{.device = "cpu", .before = 1, .after = 2, .peak = 5, .grown = -1};
  bytes.peak_categories[index_of(Category::Other)] = 5;
  bytes.peak_event = 4;
  const ScopeCalls calls{.phase = Phase::Forward,
                         .calls = 2,
                         .first_event = 3,
                         .last_event = 8,
                         .input_bytes = 10,
                         .output_bytes = 20,
                         .devices = {bytes}};
  const ScopesAnswer answer{
      .scopes = {{.path = "mlp", .parameter_bytes = 64, .buffer_bytes = 8, .phases = {calls}}}};
  EXPECT_EQ(json_report(answer), R"({
  "schema_version": 2,
  "report": "scopes",
  "scopes": [
    {
      "path": "mlp",
      "depth": 1,
      "parameter_bytes": 64,
      "buffer_bytes": 8,
      "phases": [
        {
          "phase": "forward",
          "calls": 2,
          "first_call": 1,
          "first_event": 3,
          "last_event": 8,
          "input_bytes": 10,
          "output_bytes": 20,
          "devices": [
            {"device": "cpu", "before": 1, "after": 2, "peak": 5, "grown": -1, "peak_categories": {"Other": 5}, "peak_event": 4}
          ]
        }
      ],
      "calls": []
    }
  ],
  "diagnostics": []
}
)");
}

TEST(JsonReport, TimelineHasOnePointALine) {
  TimelinePoint point{.event = 2,
                      .time_ns = 20,
                      .step = 1,
                      .phase = Phase::Optimizer,
                      .lowest = 0,
                      .highest = INT64_MAX};
  point.categories[index_of(Category::OptimizerState)] = INT64_MAX;
  const TimelineAnswer answer{
      .axis = TimelineAxis::Time, .first = 5, .last = 50, .devices = {{"cpu", {point}}}};
  EXPECT_EQ(json_report(answer), R"({
  "schema_version": 2,
  "report": "timeline",
  "axis": "time",
  "first": 5,
  "last": 50,
  "devices": [
    {
      "device": "cpu",
      "points": [
        {"event": 2, "time_ns": 20, "step": 1, "phase": "optimizer", "lowest": 0, "highest": 9223372036854775807, "categories": {"OptimizerState": 9223372036854775807}}
      ]
    }
  ],
  "diagnostics": []
}
)");
}

TEST(JsonReport, LifetimesSayWhoNeverDied) {
  Lifetime life;
  life.storage = {.storage = 1, .allocated_bytes = 8, .requested_bytes = 8, .device = "cpu"};
  life.events = 6;
  life.time_ns = 60;
  const LifetimesAnswer answer{.storages = 1, .heaviest = {life}};
  const std::string json = json_report(answer);
  EXPECT_NE(json.find("\"storages\": 1,\n  \"groups\": [],\n"), std::string::npos);
  EXPECT_NE(json.find("\"died\": null,\n      \"events\": 6,\n      \"time_ns\": 60,\n"),
            std::string::npos);
}

TEST(JsonReport, LifetimesSayWhereAStorageDied) {
  Lifetime life;
  life.died = When{.event = 12, .time_ns = 3, .step = 2, .phase = Phase::Backward};
  const std::string json = json_report(LifetimesAnswer{.storages = 1, .heaviest = {life}});
  EXPECT_NE(json.find("\"died\": {\"event\": 12, \"time_ns\": 3, \"step\": 2, "
                      "\"phase\": \"backward\", "),
            std::string::npos);
}

TEST(JsonReport, LeaksHaveSitesAndLevels) {
  const LeaksAnswer answer{
      .enough_steps = true,
      .finished_steps = 4,
      .leaked_bytes = 30,
      .sites = {{"cpu", "", "aten::add", "", Category::Activation, 3, 30, 3, 10, 2, 4}},
      .levels = {{"cpu", 1, 100}}};
  EXPECT_EQ(json_report(answer), R"({
  "schema_version": 2,
  "report": "leaks",
  "enough_steps": true,
  "finished_steps": 4,
  "leaked_bytes": 30,
  "sites": [
    {
      "device": "cpu",
      "scope": null,
      "op": "aten::add",
      "source": null,
      "category": "Activation",
      "count": 3,
      "allocated_bytes": 30,
      "steps": 3,
      "bytes_per_step": 10,
      "first_step": 2,
      "last_step": 4
    }
  ],
  "levels": [
    {"device": "cpu", "step": 1, "allocated_bytes": 100}
  ],
  "diagnostics": []
}
)");
}

TEST(JsonReport, DiffHasBeforeAndAfterOfEachName) {
  const DiffAnswer answer{
      .same = false, .devices = {{"cpu", {"peak", 10, 4}, {{"Other", 10, 4}}, {}, {{"op", 1, 0}}}}};
  EXPECT_EQ(json_report(answer), R"({
  "schema_version": 2,
  "report": "diff",
  "same": false,
  "devices": [
    {
      "device": "cpu",
      "peak": {"name": "peak", "before": 10, "after": 4},
      "categories": [
        {"name": "Other", "before": 10, "after": 4}
      ],
      "scopes": [],
      "ops": [
        {"name": "op", "before": 1, "after": 0}
      ]
    }
  ],
  "diagnostics": []
}
)");
}

TEST(JsonReport, VerifyIsTheDiagnosticsAndHowManyAreProblems) {
  Diagnostics diagnostics;
  diagnostics.add("late-start", Severity::Note, "", "only told", 7);
  diagnostics.add("double-free", Severity::Error, "event 3", "said \"twice\"", 2);
  EXPECT_EQ(json_report(diagnostics), R"({
  "schema_version": 2,
  "report": "verify",
  "problems": 2,
  "diagnostics": [
    {"code": "late-start", "severity": "note", "count": 7, "where": null, "message": "only told"},
    {"code": "double-free", "severity": "error", "count": 2, "where": "event 3", "message": "said \"twice\""}
  ]
}
)");
}

// A tight run whose tape has a problem.
Overview small_overview() {
  Overview answer;
  answer.meta = {{"model", "tiny"}};
  answer.verdict = VerdictAnswer{.verdict = Verdict::Tight,
                                 .gpu = {"Small", 8, "9.0"},
                                 .device = "cuda:0",
                                 .tensor_bytes = 7,
                                 .max_allocated_bytes = 8,
                                 .max_reserved_bytes = 9,
                                 .budget_bytes = 9,
                                 .budget_error_bytes = 2,
                                 .budget = {{"tensors", 9, Evidence::Modelled, "the peak"}},
                                 .is_partial = true};
  answer.run = {.kind = "estimate",
                .end = RunEnd::Steps,
                .steps = 2,
                .optimizers = 1,
                .ops = 10,
                .wall_seconds = 1.5,
                .torch_version = "2.13.0",
                .further_seconds = 2.5,
                .later_failure = "ValueError: no",
                .out_of_memory = OutOfMemory{"cuda:0", 3, 6, {}}};
  answer.not_covered = {"saving"};
  answer.events = 9;
  answer.steps = 1;
  answer.diagnostics.add("double-free", Severity::Error, "event 3", "twice");
  answer.peak.diagnostics = answer.diagnostics;
  return answer;
}

TEST(JsonReport, TheOverviewHoldsTheThreeAnswersAndTheDiagnosticsOnce) {
  const Overview answer = small_overview();
  EXPECT_EQ(json_report(answer), R"({
  "schema_version": 2,
  "report": "report",
  "verdict": "tight",
  "fits": true,
  "judgement": {
    "verdict": "tight",
    "fits": true,
    "reason": null,
    "device": "cuda:0",
    "tensor_bytes": 7,
    "max_allocated_bytes": 8,
    "max_reserved_bytes": 9,
    "budget_bytes": 9,
    "budget_error_bytes": 2,
    "uncompiled": false,
    "partial": true,
    "rank": 0,
    "world_size": 1,
    "ranks_alike": null,
    "gpu": {"name": "Small", "memory_bytes": 8, "capability": "9.0"},
    "budget": [
      {"name": "tensors", "bytes": 9, "evidence": "modelled", "reason": "the peak"}
    ]
  },
  "run": {
    "kind": "estimate",
    "ended": "steps",
    "failure": null,
    "later_failure": "ValueError: no",
    "steps": 2,
    "optimizers": 1,
    "further_seconds": 2.5,
    "ops": 10,
    "wall_seconds": 1.5,
    "torch_version": "2.13.0",
    "allocator_settings": null,
    "rank": 0,
    "world_size": 1,
    "ranks_alike": null,
    "gpu": {"name": null, "memory_bytes": 0, "capability": null},
    "out_of_memory": {
      "device": "cuda:0",
      "wanted_bytes": 3,
      "allocated_bytes": 6,
      "at": {"event": null, "time_ns": 0, "step": 0, "phase": "other", "scope": null, "op": null, "source": null}
    }
  },
  "not_covered": [
    "saving"
  ],
  "meta": {
    "model": "tiny"
  },
  "events": 9,
  "steps": 1,
  "peak": {
    "events": 0,
    "steps": 0,
    "devices": []
  },
  "scopes": {
    "scopes": []
  },
  "timeline": {
    "axis": "events",
    "first": 0,
    "last": 0,
    "devices": []
  },
  "diagnostics": [
    {"code": "double-free", "severity": "error", "count": 1, "where": "event 3", "message": "twice"}
  ]
}
)");
}

}  // namespace
}  // namespace tidemark
