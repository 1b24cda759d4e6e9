// Properties of recorded runs: tree, identities, categories and tape against slow twins.
#include "tests/property/properties.h"
#include "tests/property/random_recording.h"
#include "tests/property/slow_dataflow.h"
#include "tidemark/engine/dataflow/dataflow_tape.h"
#include "tidemark/engine/replay/verify.h"

namespace tidemark::test {
namespace {

using namespace dataflow;

constexpr std::size_t kMost = 40, kMostOfLarge = 400;

Recording recording_of(const Sample& sample) {
  Random random = sample.choices();
  return random_recording(random, is_large(sample.seed) ? kMostOfLarge : kMost);
}

std::unique_ptr<const Dataflow> dataflow_of(const Sample& sample) {
  return find_dataflow(recording_of(sample), schemas_of_random);
}

void every_event_is_in_the_tree_once_below_an_older_one(const Sample& sample) {
  const Recording recording = recording_of(sample);
  const Tree tree = build_tree(recording);
  expect_equal(tree.size(), recording.events.size(), "events in the tree");
  std::vector<bool> seen(tree.size());
  for (Position at = 0; at < tree.size(); ++at) {
    expect(!seen[tree.events[at].value], "event ", tree.events[at].value, " is there twice");
    seen[tree.events[at].value] = true;
    const Position parent = tree.parents[at];
    if (parent == kNoPosition) continue;
    expect(parent < at && at < tree.ends[parent], "event at ", at, " is outside of its parent");
    expect(tree.ends[at] <= tree.ends[parent], "what is below ", at, " goes beyond its parent");
    const auto& above = recording.events[tree.events[parent].value];
    const auto& event = recording.events[tree.events[at].value];
    expect(above.start_ns <= event.start_ns, "a parent begins after its child");
  }
}

void identities_equal_slow_ones(const Sample& sample) {
  const Recording recording = recording_of(sample);
  const Tree tree = build_tree(recording);
  const FoundIds found = find_ids(recording, tree);
  const std::vector<Ids> slow = slow_ids(recording, tree);
  const std::size_t tensors = recording.tensors.size();
  for (std::size_t row = 0; row < slow.size(); ++row)
    expect((row < tensors ? found.tensors[row] : found.allocations[row - tensors]) == slow[row],
           "identity of row ", row);
}

void categories_equal_slow_ones(const Sample& sample) {
  const auto dataflow = dataflow_of(sample);
  for (const auto& [version, category] : slow_labels(dataflow->known()))
    expect_equal(name_of(dataflow->labels(KeyId(version.first), version.second)), name_of(category),
                 "key ", version.first, " version ", version.second);
}

void rows_are_sums_of_the_timeline(const Sample& sample) {
  const auto dataflow = dataflow_of(sample);
  for (std::size_t d = 0; d < dataflow->recording.devices.size(); ++d) {
    const auto rows = coalesce(dataflow->timeline, dataflow->labels, device_numbered(d)).rows;
    std::int64_t sum = 0, last = 0;
    for (const Entry& entry : dataflow->timeline)
      if (entry.device == device_numbered(d) && entry.action != Action::IncrementVersion)
        sum += entry.action == Action::Destroy ? -entry.bytes : entry.bytes;
    if (!rows.empty())
      for (std::int64_t bytes : rows.back()) last += bytes;
    expect_equal(last, sum, "bytes at the end on device ", d);
  }
}

void the_tape_of_any_recording_is_regular(const Sample& sample) {
  const auto dataflow = dataflow_of(sample);
  const Diagnostics problems = verify(tape_of_dataflow(*dataflow)).problems();
  for (const Diagnostic& d : problems.all()) fail(d.code, ", ", d.where, ", ", d.message);
}

}  // namespace

std::vector<Property> dataflow_properties() {
  return {
      {"every event is in the tree once, below an older one",
       every_event_is_in_the_tree_once_below_an_older_one},
      {"identities equal slow ones", identities_equal_slow_ones},
      {"categories equal slow ones", categories_equal_slow_ones},
      {"rows are sums of the timeline", rows_are_sums_of_the_timeline},
      {"the tape of any recording is regular", the_tape_of_any_recording_is_regular},
  };
}

}  // namespace tidemark::test
