// Follows each storage from birth to death; only the living and the heaviest dead are kept.
#include "tidemark/engine/analyses/lifetimes.h"

#include <algorithm>

namespace tidemark {
namespace {

LifeSpan span_of(const Birth& born, const Moment& died, Phase phase, std::int64_t phase_begin) {
  if (died.step != born.at.step) return LifeSpan::AcrossSteps;
  const bool is_within = phase == born.phase && born.at.event >= phase_begin;
  return is_within ? LifeSpan::WithinPhase : LifeSpan::WithinStep;
}

}  // namespace

void LifetimesObserver::see(const Event& e, const Change& change, const Replay& replay) {
  follow_phase(e.phase, replay.now().event);
  if (!change.before.alive() || !changes_storage(e.kind)) return;
  if (e.kind == Kind::Alloc || e.kind == Kind::Free) end_life(e, replay);
  else note_size(e.storage(), change);
}

void LifetimesObserver::follow_phase(Phase next, std::int64_t event) {
  if (next == Phase::Recompute) next = Phase::Backward;
  if (next != stretch_.phase) stretch_ = {next, event};
}

void LifetimesObserver::note_size(StorageId storage, const Change& change) {
  auto known = largest_.find(storage);
  if (known == largest_.end()) {
    if (change.after.bytes() >= change.before.bytes()) return;
    known = largest_.emplace(storage, change.before).first;
  }
  if (change.after.bytes() >= known->second.bytes()) known->second = change.after;
}

bool LifetimesObserver::is_in(const LiveStorage& one, const Tables& tables) const {
  return is_chosen(options_.device, tables, one.state.device()) &&
         is_chosen(options_.step, one.born.at.step);
}

// The life up to now, as its storage was at its largest.
Life LifetimesObserver::life_of(const LiveStorage& one, const Moment& now) const {
  Life life{.storage = one, .last_category = one.state.category()};
  if (const auto known = largest_.find(one.storage); known != largest_.end())
    life.storage.state = known->second;
  life.events = now.event - one.born.at.event;
  life.time_ns = std::max<std::int64_t>(0, subtract_saturating(now.time_ns, one.born.at.time_ns));
  return life;
}

void LifetimesObserver::end_life(const Event& e, const Replay& replay) {
  const LiveStorage& one = *replay.live().find(e.storage());
  if (is_in(one, replay.tables())) {
    Life life = life_of(one, replay.now());
    life.span = span_of(one.born, replay.now(), e.phase, stretch_.begin);
    life.died_at = replay.now();
    life.died_of = e;
    dead_.add(life);
  }
  if (!largest_.empty()) largest_.erase(e.storage());
}

LifetimesAnswer LifetimesObserver::answer(const Replay& replay) const {
  LifeRanking all = dead_;
  replay.live().for_each([&](const LiveStorage& one) {
    if (is_in(one, replay.tables())) all.add(life_of(one, replay.now()));
  });
  LifetimesAnswer answer;
  answer.storages = all.count();
  answer.groups = all.groups();
  answer.heaviest = all.heaviest(replay.tables());
  answer.diagnostics = replay.ledger().diagnostics();
  return answer;
}

LifetimesAnswer find_lifetimes(const Tape& tape, const LifetimesOptions& options) {
  check_selection(options, tape);
  return feed(tape, LifetimesObserver(options));
}

}  // namespace tidemark
