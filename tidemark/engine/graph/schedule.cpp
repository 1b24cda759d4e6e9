// Counts of users to come decide when a storage dies.
#include "tidemark/engine/graph/schedule.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/graph/walk.h"

namespace tidemark {

Schedule::Schedule(const Accounts& accounts)
    : accounts_(&accounts), now_{accounts.base_bytes(), accounts.base_bytes()} {
  const Graph& graph = accounts.graph();
  remaining_.assign(graph.storage_count(), 0);
  produced_.assign(graph.storage_count(), 0);
  state_.assign(graph.node_count(), kIsThere);
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    if (graph.kind(NodeId(n)) != NodeKind::Compute) continue;
    state_[n] = kComputes;
    for (StorageId s : accounts.uses(NodeId(n))) ++remaining_[s.value];
  }
  for (std::uint32_t s = 0; s < graph.storage_count(); ++s) {
    remaining_[s] += accounts.is_kept(StorageId(s));
    produced_[s] += accounts.is_base(StorageId(s));
  }
  // Written now, so that no choice waits for the system to hand out memory.
  order_.resize(graph.node_count());
  before_.resize(graph.node_count());
}

bool Schedule::is_ready(NodeId node) const {
  for (NodeId input : accounts_->graph().inputs(node))
    if (!(state_[input.value] & kIsThere)) return false;
  return true;
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
  if (!(state_[node.value] & kComputes)) return now_;
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
  check(node);
  const bool reuses = accounts_->reuses(node);
  Level next = reuses ? after(node) : now_;
  before_[count_] = now_;
  order_[count_++] = node;
  if (state_[node.value] & kComputes) {
    const Change change = apply(node);
    if (!reuses)
      next = {now_.bytes + change.born - change.dying,
              std::max(now_.peak, now_.bytes + change.born)};
  }
  state_[node.value] |= kScheduled | kIsThere;
  return now_ = next;
}

// Counts the node's results and uses, and says what that changes.
Schedule::Change Schedule::apply(NodeId node) {
  Change change;
  for (StorageId s : accounts_->graph().outputs(node))
    if (produced_[s.value]++ == 0) {
      change.born += accounts_->bytes(s);
      if (is_never_used(s)) change.dying += accounts_->bytes(s);
    }
  for (StorageId s : accounts_->uses(node))
    if (--remaining_[s.value] == 0) change.dying += accounts_->bytes(s);
  return change;
}

void Schedule::schedule(std::span<const NodeId> nodes, std::span<Level> levels) {
  for (std::size_t i = 0; i < nodes.size(); ++i) levels[i] = schedule(nodes[i]);
}

void Schedule::undo() {
  if (count_ == 0) throw Error(ErrorCode::BadArgument, "there is no choice to take back");
  const NodeId node = order_[--count_];
  std::uint8_t& state = state_[node.value];
  state = state & kComputes ? kComputes : kIsThere;
  if (state & kComputes) {
    for (StorageId s : accounts_->graph().outputs(node)) --produced_[s.value];
    for (StorageId s : accounts_->uses(node)) ++remaining_[s.value];
  }
  now_ = before_[count_];
}

std::vector<StorageId> Schedule::alive() const {
  // Users that have run, by storage: without any, "no users to come" is not the end.
  std::vector<std::uint32_t> used(remaining_.size(), 0);
  for (NodeId node : order())
    if (state_[node.value] & kComputes)
      for (StorageId s : accounts_->uses(node)) ++used[s.value];
  std::vector<StorageId> alive;
  for (std::uint32_t i = 0; i < produced_.size(); ++i) {
    const StorageId s(i);
    const bool is_dead =
        remaining_[i] == 0 &&
        (used[i] > 0 || (accounts_->options().free_unused && !accounts_->is_base(s)));
    if (produced_[i] > 0 && !is_dead && accounts_->bytes(s) > 0) alive.push_back(s);
  }
  return alive;
}

}  // namespace tidemark
