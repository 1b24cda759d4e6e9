// Counts of users to come decide when a storage dies.
#include "tidemark/graph/schedule.h"

#include <algorithm>

#include "tidemark/base/error.h"
#include "tidemark/graph/walk.h"

namespace tidemark {

Schedule::Schedule(const Accounts& accounts)
    : accounts_(&accounts), now_{accounts.base_bytes(), accounts.base_bytes()} {
  const Graph& graph = accounts.graph();
  use_count_.assign(graph.storage_count(), 0);
  produced_.assign(graph.storage_count(), 0);
  is_scheduled_.assign(graph.node_count(), 0);
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    if (graph.kind(NodeId(n)) == NodeKind::Compute)
      for (StorageId s : accounts.uses(NodeId(n))) ++use_count_[s.value];
  remaining_ = use_count_;
}

bool Schedule::is_ready(NodeId node) const {
  const Graph& graph = accounts_->graph();
  return std::ranges::all_of(graph.inputs(node), [&](NodeId input) {
    return graph.kind(input) != NodeKind::Compute || is_scheduled(input);
  });
}

void Schedule::check(NodeId node) const {
  const Graph& graph = accounts_->graph();
  if (node.value >= graph.node_count())
    throw Error(ErrorCode::BadArgument, "the node is not of this graph");
  if (is_scheduled(node))
    throw Error(ErrorCode::BadArgument, "the node is scheduled already", graph.name(node));
  if (!is_ready(node))
    throw Error(ErrorCode::BadArgument, "an input of the node is not scheduled yet",
                graph.name(node));
}

Level Schedule::after(NodeId node) const {
  const Graph& graph = accounts_->graph();
  if (graph.kind(node) != NodeKind::Compute) return now_;
  std::int64_t born = 0, dying = 0, reused = 0;
  for (StorageId s : graph.outputs(node))
    if (is_born_by(s)) {
      born += accounts_->bytes(s);
      if (is_never_used(s)) dying += accounts_->bytes(s);
    }
  for (StorageId s : accounts_->uses(node))
    if (dies_with(s)) dying += accounts_->bytes(s);
  if (accounts_->reuses(node)) {
    std::vector<StorageId> results, inputs;
    std::ranges::copy_if(graph.outputs(node), std::back_inserter(results),
                         [&](StorageId s) { return is_born_by(s); });
    std::ranges::copy_if(accounts_->uses(node), std::back_inserter(inputs),
                         [&](StorageId s) { return dies_with(s); });
    reused = reused_bytes(*accounts_, results, inputs);
  }
  return {now_.bytes + born - dying, std::max(now_.peak, now_.bytes + born - reused)};
}

Level Schedule::what_if(NodeId node) const {
  check(node);
  return after(node);
}

Level Schedule::schedule(NodeId node) {
  const Level next = what_if(node);
  before_.push_back(now_);
  order_.push_back(node);
  is_scheduled_[node.value] = 1;
  if (accounts_->graph().kind(node) == NodeKind::Compute) {
    for (StorageId s : accounts_->graph().outputs(node)) ++produced_[s.value];
    for (StorageId s : accounts_->uses(node)) --remaining_[s.value];
  }
  return now_ = next;
}

std::vector<Level> Schedule::schedule(std::span<const NodeId> nodes) {
  std::vector<Level> levels;
  levels.reserve(nodes.size());
  for (NodeId node : nodes) levels.push_back(schedule(node));
  return levels;
}

void Schedule::undo() {
  if (order_.empty()) throw Error(ErrorCode::BadArgument, "there is no choice to take back");
  const NodeId node = order_.back();
  if (accounts_->graph().kind(node) == NodeKind::Compute) {
    for (StorageId s : accounts_->graph().outputs(node)) --produced_[s.value];
    for (StorageId s : accounts_->uses(node)) ++remaining_[s.value];
  }
  is_scheduled_[node.value] = 0;
  now_ = before_.back();
  order_.pop_back();
  before_.pop_back();
}

std::vector<StorageId> Schedule::alive() const {
  std::vector<StorageId> alive;
  for (std::uint32_t i = 0; i < produced_.size(); ++i) {
    const StorageId s(i);
    const bool is_born = accounts_->is_base(s) || produced_[i] > 0;
    const bool is_dead = !accounts_->is_kept(s) &&
                         (is_never_used(s) || (use_count_[i] > 0 && remaining_[i] == 0));
    if (is_born && !is_dead && accounts_->bytes(s) > 0) alive.push_back(s);
  }
  return alive;
}

}  // namespace tidemark
