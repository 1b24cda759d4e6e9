// Sums ended calls, and sets them out along the tree of scopes.
#include "tidemark/engine/analyses/scopes.h"

#include <algorithm>

#include "tidemark/engine/analyses/scope_tree.h"

namespace tidemark {
namespace {

// A step's own order; what belongs to no phase comes last.
constexpr std::array kPhaseOrder = {Phase::Forward, Phase::Backward, Phase::Recompute,
                                    Phase::Optimizer, Phase::Other};

}  // namespace

void ScopesObserver::see(const Event& e, const Change& change, const Replay& replay) {
  parameters_.add(e, change);
  buffers_.add(e, change);
  if (const ScopeSpan* ended = spans_.look(e, change, replay)) sums_.add(*ended);
}

std::vector<ScopeFacts> ScopesObserver::list(const std::vector<ScopeRecord>& records,
                                             const Tables& tables) const {
  const ScopeTree tree(tables);
  std::vector<std::int64_t> parameter_bytes = parameters_.by_scope(tree.size());
  std::vector<std::int64_t> buffer_bytes = buffers_.by_scope(tree.size());
  std::vector<bool> is_listed(tree.size());
  for (std::size_t s = 0; s < tree.size(); ++s)
    is_listed[s] = parameter_bytes[s] > 0 || buffer_bytes[s] > 0 ||
                   (s < records.size() && !records[s].phases.empty());
  tree.add_up(parameter_bytes);
  tree.add_up(buffer_bytes);

  std::vector<ScopeFacts> scopes;
  for (ScopeId id : tree.order(std::move(is_listed))) {
    if (options_.depth > 0 && tree.depth(id) > options_.depth) continue;
    ScopeFacts& facts = scopes.emplace_back();
    facts.path = tables.scope_path(id);
    facts.depth = tree.depth(id);
    facts.parameter_bytes = parameter_bytes[id.value];
    facts.buffer_bytes = buffer_bytes[id.value];
    if (id.value < records.size()) fill_calls(facts, records[id.value], tables);
  }
  return scopes;
}

void ScopesObserver::fill_calls(ScopeFacts& facts, const ScopeRecord& record,
                                const Tables& tables) const {
  for (Phase phase : kPhaseOrder)
    for (const CallSum& sum : record.phases)
      if (sum.calls.phase == phase) facts.phases.push_back(named(sum, options_.device, tables));
  for (const CallSum& call : record.calls)
    facts.calls.push_back(named(call, options_.device, tables));
}

// Open scopes end on copies, newest first: the run goes on, and they with it.
ScopesAnswer ScopesObserver::answer(const Replay& replay) const {
  ScopeSpans spans = spans_;
  ScopeCallSums sums = sums_;
  const OpenCalls& open = replay.scopes().open();
  for (auto call = open.newest(); call != OpenCalls::kNone; call = open.older(call))
    sums.add(*spans.end(call, replay));
  ScopesAnswer answer;
  answer.scopes = list(sums.records(), replay.tables());
  answer.diagnostics = replay.ledger().diagnostics();
  answer.diagnostics.add(replay.scopes().final_diagnostics());
  return answer;
}

ScopesAnswer find_scopes(const Tape& tape, const ScopesOptions& options) {
  check_selection(options, tape);
  return feed(tape, ScopesObserver(options));
}

}  // namespace tidemark
