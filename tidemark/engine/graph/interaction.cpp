// Compares the inputs of the backward with what the forward took and returned.
#include "tidemark/engine/graph/interaction.h"

#include <algorithm>

#include "tidemark/engine/graph/profile.h"

namespace tidemark {
namespace {

using Marks = std::vector<std::uint8_t>;  // by storage of the forward

// Allocated by one of these nodes; an input that aliases an earlier one has nothing of its own.
Marks allocated_by(const Graph& graph, std::span<const NodeId> nodes) {
  Marks marks(graph.storage_count(), 0);
  for (NodeId node : nodes)
    for (StorageId s : graph.outputs(node))
      if (graph.allocator(s) == node) marks[s.value] = 1;
  return marks;
}

Marks returned_by(const Graph& graph) {
  Marks marks(graph.storage_count(), 0);
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    if (graph.kind(NodeId(n)) == NodeKind::Output)
      for (StorageId s : graph.uses(NodeId(n))) marks[s.value] = 1;
  return marks;
}

bool meets(const JointGraphs& graphs, NodeId input, const Marks& marks) {
  return std::ranges::any_of(graphs.backward->outputs(input), [&](StorageId s) {
    const StorageId in_forward = graphs.same[s.value];
    return in_forward && marks[in_forward.value];
  });
}

std::vector<NodeId> backward_inputs(const Graph& graph) {
  std::vector<NodeId> inputs;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    if (graph.kind(NodeId(n)) == NodeKind::Input) inputs.push_back(NodeId(n));
  return inputs;
}

GraphOptions without_releases(GraphOptions options) {
  options.donated.clear();
  options.releasable.clear();
  return options;
}

GraphOptions releasing_all_but(const Graph& graph, std::span<const NodeId> kept,
                               const GraphOptions& options) {
  GraphOptions chosen = without_releases(options);
  chosen.releasable.assign(graph.node_count(), 1);
  for (NodeId node : kept) chosen.releasable[node.value] = 0;
  return chosen;
}

std::int64_t peak_of(const Graph& graph, const GraphOptions& options) {
  const auto profile = build_profile(Accounts(graph, options));
  return *std::max_element(profile.begin(), profile.end());
}

}  // namespace

Interaction find_interaction(const JointGraphs& graphs, const GraphOptions& options) {
  const Marks primal = allocated_by(*graphs.forward, graphs.primals);
  const Marks returned = returned_by(*graphs.forward);
  Interaction found;
  Marks is_taken(graphs.forward->storage_count(), 0);
  for (NodeId input : backward_inputs(*graphs.backward)) {
    for (StorageId s : graphs.backward->outputs(input))
      if (graphs.same[s.value]) is_taken[graphs.same[s.value].value] = 1;
    if (meets(graphs, input, primal) || !meets(graphs, input, returned))
      found.not_releasable.push_back(input);
  }
  const Accounts forward(*graphs.forward, without_releases(options));
  for (std::uint32_t s = 0; s < returned.size(); ++s)
    if (returned[s] && !is_taken[s]) found.baseline_bytes += forward.bytes(StorageId(s));
  return found;
}

JointPeak find_joint_peak(const JointGraphs& graphs, const GraphOptions& options) {
  const Interaction between = find_interaction(graphs, options);
  JointPeak peak;
  peak.forward_bytes =
      peak_of(*graphs.forward, releasing_all_but(*graphs.forward, graphs.primals, options));
  peak.backward_bytes =
      between.baseline_bytes +
      peak_of(*graphs.backward,
              releasing_all_but(*graphs.backward, between.not_releasable, options));
  peak.is_in_backward = peak.backward_bytes > peak.forward_bytes;
  peak.bytes = std::max(peak.forward_bytes, peak.backward_bytes);
  return peak;
}

}  // namespace tidemark
