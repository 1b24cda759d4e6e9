// Runs the steps one after the other, and a second time where the recorder's ids contradict.
#include "tidemark/engine/dataflow/dataflow.h"

#include <string>
#include <utility>

namespace tidemark::dataflow {
namespace {

struct Traced {
  Keys keys;
  Flow flow;
  Diagnostics diagnostics;
  Identity identity;
};

Traced trace(const Recording& recording, const Tree& tree, const SchemaSource& schemas,
             Identity identity) {
  Traced traced;
  traced.identity = identity;
  traced.keys = identity == Identity::Recorded ? keys_as_recorded(recording, tree)
                                               : keys_as_found(recording, tree);
  traced.flow = find_flow(recording, tree, traced.keys, schemas, traced.diagnostics);
  return traced;
}

Traced trace_best(const Recording& recording, const Tree& tree, const SchemaSource& schemas,
                  Identity wanted) {
  const bool recorded = recording.identified && wanted == Identity::Recorded;
  Traced traced = trace(recording, tree, schemas, recorded ? Identity::Recorded : Identity::Found);
  if (!recorded || !traced.diagnostics.problem_count()) return traced;
  const auto odd = static_cast<std::int64_t>(traced.diagnostics.problem_count());
  traced = trace(recording, tree, schemas, Identity::Found);
  traced.diagnostics.add(
      "ids-contradict", Severity::Warning, "",
      "the recorder's ids of tensors contradict each other: they were found anew", odd);
  return traced;
}

void tell_reused(const Keys& keys, Diagnostics& diagnostics) {
  if (keys.reused_addresses > 0)
    diagnostics.add("reused-address", Severity::Note, "",
                    "storages were born at addresses whose former storage nobody saw die",
                    static_cast<std::int64_t>(keys.reused_addresses));
}

}  // namespace

std::unique_ptr<const Dataflow> find_dataflow(Recording recording, const SchemaSource& schemas,
                                              const Options& options) {
  Tree tree = build_tree(recording);
  Traced traced = trace_best(recording, tree, schemas, options.identity);
  auto found = std::make_unique<Dataflow>();
  found->recording = std::move(recording);
  found->tree = std::move(tree);
  found->keys = std::move(traced.keys);
  found->flow = std::move(traced.flow);
  found->diagnostics = std::move(traced.diagnostics);
  found->identity = traced.identity;
  found->diagnostics.add(found->recording.diagnostics);
  tell_reused(found->keys, found->diagnostics);
  found->sizes = find_sizes(found->recording, found->tree, found->keys, found->diagnostics);
  found->labels = find_labels(found->known());
  found->timeline = find_timeline(found->known(), found->labels, found->sizes, found->diagnostics);
  return found;
}

}  // namespace tidemark::dataflow
