// Sums ended calls, and sets them out along the tree of scopes.
#include "tidemark/engine/analyses/scopes.h"

#include <algorithm>

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/owned_bytes.h"
#include "tidemark/engine/analyses/scope_calls.h"
#include "tidemark/engine/analyses/scope_tree.h"
#include "tidemark/engine/analyses/selection.h"

namespace tidemark {
namespace {

// A step's own order; what belongs to no phase comes last.
constexpr std::array kPhaseOrder = {Phase::Forward, Phase::Backward, Phase::Recompute,
                                    Phase::Optimizer, Phase::Other};

}  // namespace

struct ScopesAccumulator::State {
  ScopesOptions options;
  Ledger ledger;
  ScopeSpans spans;
  ScopeCallSums sums;
  OwnedBytes parameters{Category::Parameter}, buffers{Category::Buffer};

  State(const Tables& tables, ScopesOptions o)
      : options(std::move(o)), ledger(tables), sums(options) {}

  void add(const Event& e) {
    const StorageChange change = ledger.add(e);
    parameters.add(e, change);
    buffers.add(e, change);
    if (const ScopeSpan* ended = spans.add(e, change, ledger)) sums.add(*ended);
  }

  std::vector<ScopeFacts> list(const std::vector<ScopeRecord>& records) const;
  void fill_calls(ScopeFacts& facts, const ScopeRecord& record) const;
};

std::vector<ScopeFacts> ScopesAccumulator::State::list(
    const std::vector<ScopeRecord>& records) const {
  const ScopeTree tree(ledger.tables());
  std::vector<std::int64_t> parameter_bytes = parameters.by_scope(tree.size());
  std::vector<std::int64_t> buffer_bytes = buffers.by_scope(tree.size());
  std::vector<bool> is_listed(tree.size());
  for (std::size_t s = 0; s < tree.size(); ++s)
    is_listed[s] = parameter_bytes[s] > 0 || buffer_bytes[s] > 0 ||
                   (s < records.size() && !records[s].phases.empty());
  tree.add_up(parameter_bytes);
  tree.add_up(buffer_bytes);

  std::vector<ScopeFacts> scopes;
  for (ScopeId id : tree.order(std::move(is_listed))) {
    if (options.depth > 0 && tree.depth(id) > options.depth) continue;
    ScopeFacts& facts = scopes.emplace_back();
    facts.path = ledger.tables().scope_path(id);
    facts.depth = tree.depth(id);
    facts.parameter_bytes = parameter_bytes[id.value];
    facts.buffer_bytes = buffer_bytes[id.value];
    if (id.value < records.size()) fill_calls(facts, records[id.value]);
  }
  return scopes;
}

void ScopesAccumulator::State::fill_calls(ScopeFacts& facts, const ScopeRecord& record) const {
  const Tables& tables = ledger.tables();
  for (Phase phase : kPhaseOrder)
    for (const CallSum& sum : record.phases)
      if (sum.calls.phase == phase) facts.phases.push_back(named(sum, options.device, tables));
  for (const CallSum& call : record.calls)
    facts.calls.push_back(named(call, options.device, tables));
}

ScopesAccumulator::ScopesAccumulator(const Tables& tables, ScopesOptions options)
    : state_(std::make_unique<State>(tables, std::move(options))) {}
ScopesAccumulator::~ScopesAccumulator() = default;
ScopesAccumulator::ScopesAccumulator(ScopesAccumulator&&) noexcept = default;
ScopesAccumulator& ScopesAccumulator::operator=(ScopesAccumulator&&) noexcept = default;

void ScopesAccumulator::add(const Event& event) { state_->add(event); }

// Open scopes end on copies: the run goes on, and they with it.
ScopesAnswer ScopesAccumulator::answer() const {
  ScopeSpans spans = state_->spans;
  ScopeCallSums sums = state_->sums;
  while (const ScopeSpan* ended = spans.end_next_open(state_->ledger)) sums.add(*ended);
  ScopesAnswer answer;
  answer.scopes = state_->list(sums.records());
  answer.diagnostics = state_->ledger.diagnostics();
  answer.diagnostics.add(spans.diagnostics());
  return answer;
}

ScopesAnswer find_scopes(const Tape& tape, const ScopesOptions& options) {
  check_selection(options, tape);
  return feed(tape, ScopesAccumulator(tape.tables(), options));
}

}  // namespace tidemark
