// Follows each storage from birth to death; only the living and the heaviest dead are kept.
#include "tidemark/engine/analyses/lifetimes.h"

#include <algorithm>
#include <unordered_map>

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/life_ranking.h"
#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/selection.h"

namespace tidemark {
namespace {

// The stretch of events without a change of phase. Recomputing happens inside the backward.
struct PhaseStretch {
  Phase phase = Phase::Other;
  std::int64_t begin = 0;

  void add(Phase next, std::int64_t event) {
    if (next == Phase::Recompute) next = Phase::Backward;
    if (next == phase) return;
    phase = next;
    begin = event;
  }
};

LifeSpan span_of(const Birth& born, const Moment& died, Phase phase, std::int64_t phase_begin) {
  if (died.step != born.at.step) return LifeSpan::AcrossSteps;
  const bool is_within = phase == born.phase && born.at.event >= phase_begin;
  return is_within ? LifeSpan::WithinPhase : LifeSpan::WithinStep;
}

}  // namespace

struct LifetimesAccumulator::State {
  LifetimesOptions options;
  Ledger ledger;
  LiveSet live;
  PhaseStretch stretch;
  // Storages that have shrunk, as they were at their largest; all others are so now.
  std::unordered_map<StorageId, StorageState> largest;
  LifeRanking dead;

  State(const Tables& tables, LifetimesOptions o)
      : options(std::move(o)), ledger(tables), dead(tables, options.top) {}

  void add(const Event& e) {
    const StorageChange change = ledger.add(e);
    stretch.add(e.phase, ledger.now().event);
    const bool ends = change.before.alive() && (e.kind == Kind::Alloc || e.kind == Kind::Free);
    if (ends) end_life(e);
    else if (change.before.alive() && e.kind <= Kind::Relabel) note_size(e.storage(), change);
    live.add(e, change, ledger.now());
  }

  void note_size(StorageId storage, const StorageChange& change) {
    auto known = largest.find(storage);
    if (known == largest.end()) {
      if (change.after.bytes >= change.before.bytes) return;
      known = largest.emplace(storage, change.before).first;
    }
    if (change.after.bytes >= known->second.bytes) known->second = change.after;
  }

  bool is_in(const LiveStorage& one) const {
    return is_chosen(options.device, ledger.tables(), one.state.device) &&
           is_chosen(options.step, one.born.at.step);
  }

  // The life up to now, as its storage was at its largest.
  Life life_of(const LiveStorage& one) const {
    Life life{.storage = one, .last_category = one.state.category};
    auto known = largest.find(one.storage);
    if (known != largest.end()) life.storage.state = known->second;
    life.events = ledger.now().event - one.born.at.event;
    life.time_ns = std::max<std::int64_t>(
        0, subtract_saturating(ledger.now().time_ns, one.born.at.time_ns));
    return life;
  }

  void end_life(const Event& e) {
    const LiveStorage& one = *live.find(e.storage());
    if (is_in(one)) {
      Life life = life_of(one);
      life.span = span_of(one.born, ledger.now(), e.phase, stretch.begin);
      life.died_at = ledger.now();
      life.died_of = e;
      dead.add(life);
    }
    largest.erase(e.storage());
  }
};

LifetimesAccumulator::LifetimesAccumulator(const Tables& tables, LifetimesOptions options)
    : state_(std::make_unique<State>(tables, std::move(options))) {}
LifetimesAccumulator::~LifetimesAccumulator() = default;
LifetimesAccumulator::LifetimesAccumulator(LifetimesAccumulator&&) noexcept = default;
LifetimesAccumulator& LifetimesAccumulator::operator=(LifetimesAccumulator&&) noexcept = default;

void LifetimesAccumulator::add(const Event& event) { state_->add(event); }

LifetimesAnswer LifetimesAccumulator::answer() const {
  LifeRanking all = state_->dead;
  for (const LiveStorage& one : state_->live.all())
    if (state_->is_in(one)) all.add(state_->life_of(one));
  LifetimesAnswer answer;
  answer.storages = all.count();
  answer.groups = all.groups();
  answer.heaviest = all.heaviest();
  answer.diagnostics = state_->ledger.diagnostics();
  return answer;
}

LifetimesAnswer find_lifetimes(const Tape& tape, const LifetimesOptions& options) {
  check_selection(options, tape);
  return feed(tape, LifetimesAccumulator(tape.tables(), options));
}

}  // namespace tidemark
