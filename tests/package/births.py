"""A toy analysis, as its author would write it: how many storages are born on each device."""

ANSWER = """\
// How many storages are born on each device.
#pragma once

#include <string>
#include <vector>

#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

struct DeviceBirths {
  std::string device;
  std::int64_t count = 0;
  bool operator==(const DeviceBirths&) const = default;
};

struct BirthsAnswer {
  std::vector<DeviceBirths> devices;  // in the tape's order; those without births left out
  Diagnostics diagnostics;
  bool operator==(const BirthsAnswer&) const = default;
};

}  // namespace tidemark
"""

ANALYSIS_HEADER = """\
// Counts the births of storages, device by device.
#pragma once

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/answers/births.h"

namespace tidemark {

struct BirthsOptions {};

class BirthsObserver {
 public:
  static constexpr Needs kNeeds = {};
  explicit BirthsObserver(BirthsOptions = {}) {}

  void see(const Event& e, const Change& change, const Replay& replay);
  BirthsAnswer answer(const Replay& replay) const;

 private:
  std::vector<std::int64_t> counts_;  // by the device's number
};
using BirthsAccumulator = Accumulator<BirthsObserver>;

BirthsAnswer find_births(const Tape& tape, const BirthsOptions& options = {});

}  // namespace tidemark
"""

ANALYSIS = """\
// One counter for each device.
#include "tidemark/engine/analyses/births.h"

namespace tidemark {

void BirthsObserver::see(const Event& e, const Change&, const Replay&) {
  if (e.kind != Kind::Alloc || !e.device) return;
  if (counts_.size() <= e.device.value) counts_.resize(e.device.value + 1u);
  ++counts_[e.device.value];
}

BirthsAnswer BirthsObserver::answer(const Replay& replay) const {
  BirthsAnswer answer;
  for (std::size_t d = 0; d < counts_.size(); ++d)
    if (counts_[d] > 0) answer.devices.push_back({replay.tables().devices()[d].name, counts_[d]});
  answer.diagnostics = replay.ledger().diagnostics();
  return answer;
}

BirthsAnswer find_births(const Tape& tape, const BirthsOptions& options) {
  return feed(tape, BirthsObserver(options));
}

}  // namespace tidemark
"""

TEXT = """\
// Births in words: a row for each device.
#include "tidemark/engine/answers/births.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {

std::string text_report(const BirthsAnswer& answer, const TextStyle& style) {
  Page page(style);
  Table table({{"device"}, {"births", Align::Right}});
  for (const DeviceBirths& device : answer.devices)
    table.add({device.device, format_count(device.count)});
  table.draw(page);
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
"""

JSON = """\
// Births as JSON.
#include "tidemark/engine/answers/births.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {

std::string json_report(const BirthsAnswer& answer) {
  JsonWriter json;
  begin_report(json, "births");
  json.key("devices");
  json.begin_array();
  for (const DeviceBirths& device : answer.devices) {
    json.begin_object(JsonShape::Flat);
    json.member("device", device.device);
    json.member("count", device.count);
    json.end_object();
  }
  json.end_array();
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
"""

VERB = """\
// `tidemark births`: how many storages are born on each device.
#include "tidemark/cli/question.h"
#include "tidemark/cli/verbs/catalogue.h"
#include "tidemark/engine/analyses/births.h"

namespace tidemark::cli {
namespace {

Action prepare_births(CLI::App& parser) {
  auto asked = ask<BirthsOptions>();
  add_input(parser, asked->input);
  add_output(parser, asked->output);
  return answering(asked, &find_births);
}

}  // namespace

const Verb kBirths = {"births", "how many storages are born on each device",
                      "  tidemark births run.tape", &prepare_births};

}  // namespace tidemark::cli
"""

BINDING = """\
// find_births, Tape.births and BirthsAccumulator.
#include "tidemark/engine/analyses/births.h"

#include "python/src/analysis.h"
#include "python/src/struct_class.h"

namespace tidemark::python {
namespace {

BirthsOptions births_options() { return {}; }

}  // namespace

void bind_births(py::module_& module, TapeClass& tape) {
  bind_struct<DeviceBirths>(module, "DeviceBirths", "How many storages are born on one device.",
      field("device", &DeviceBirths::device),
      field("count", &DeviceBirths::count));
  auto answer = bind_struct<BirthsAnswer>(module, "BirthsAnswer", "Births, device by device.",
      field("devices", &BirthsAnswer::devices),
      field("diagnostics", &BirthsAnswer::diagnostics));
  add_reports(answer);
  bind_analysis(module, tape, {"find_births", "births"}, &find_births, &births_options,
                "How many storages are born on each device.");
  bind_accumulator<BirthsAccumulator>(module, "BirthsAccumulator", &births_options);
}

}  // namespace tidemark::python
"""

TYPES = """\

class DeviceBirths(_Value):
    device: Final[str]
    count: Final[int]

class BirthsAnswer(_Answer):
    devices: Final[list[DeviceBirths]]
    diagnostics: Final[Diagnostics]

class BirthsAccumulator:
    def __init__(self, builder: TapeBuilder) -> None: ...
    def answer(self) -> BirthsAnswer: ...

def find_births(tape: Tape) -> BirthsAnswer: ...
"""

# What is new.
FILES = {
    "tidemark/engine/answers/births.h": ANSWER,
    "tidemark/engine/analyses/births.h": ANALYSIS_HEADER,
    "tidemark/engine/analyses/births.cpp": ANALYSIS,
    "tidemark/engine/reports/text_births.cpp": TEXT,
    "tidemark/engine/reports/json_births.cpp": JSON,
    "tidemark/cli/verbs/births.cpp": VERB,
    "python/src/births.cpp": BINDING,
}

# The lists, each with a line that is there and the line that comes after it.
LINES = {
    "tidemark/engine/answers/catalogue.h": ("  X(LeaksAnswer)", "  X(BirthsAnswer) \\"),
    "tidemark/cli/verbs/catalogue.h": ("  X(kLeaks)", "  X(kBirths) \\"),
    "python/src/bindings.h": ("  X(leaks)", "  X(births) \\"),
}
