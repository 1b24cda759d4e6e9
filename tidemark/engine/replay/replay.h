// One walk through a run, for all who want to know something of it.
//
// An observer has `static constexpr Needs kNeeds` and
//
//   void see(const Event& event, const Change& change, const Replay& replay);
//
// which is called for each event. The ledger then stands after the event; the live set and the
// open scopes still have what it ends, so that an observer can ask who died:
//
//   event ---> ledger ---> begins ---> observers ---> live set, ends
#pragma once

#include "tidemark/engine/replay/ledger.h"
#include "tidemark/engine/replay/live_set.h"
#include "tidemark/engine/replay/needs.h"
#include "tidemark/engine/replay/scope_follower.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// Past the highest number of a storage.
std::size_t storage_count(const EventColumns& events);

class Replay {
 public:
  // The tables may grow while a run goes on; they must outlive the replay.
  explicit Replay(const Tables& tables, AccountingRule rule = AccountingRule::Rounded)
      : ledger_(tables, rule) {}
  // For add_all_by_blocks alone.
  Replay(const Tables& tables, const AllocatorOptions& allocator) : ledger_(tables, allocator) {}

  // Adds the next event, the same observers each time.
  template <class... Observers>
  void add(const Event& e, Observers&... observers) {
    add_one<false>(e, observers...);
  }

  // Adds all events of a tape, and reads of them what somebody needs.
  template <class... Observers>
  void add_all(const Tape& tape, Observers&... observers) {
    walk<false>(tape, observers...);
  }
  // The same, and storages are charged the blocks of a caching allocator; some observer must need
  // the column of streams.
  template <class... Observers>
  void add_all_by_blocks(const Tape& tape, Observers&... observers) {
    walk<true>(tape, observers...);
  }

  const Tables& tables() const { return ledger_.tables(); }
  const Moment& now() const { return ledger_.now(); }
  const Ledger& ledger() const { return ledger_; }
  // Of observers that need them; else empty.
  const LiveSet& live() const { return live_; }
  const ScopeFollower& scopes() const { return scopes_; }

 private:
  template <bool kByBlocks, class... Observers>
  [[gnu::always_inline]] inline void add_one(const Event& e, Observers&... observers) {
    constexpr Needs kNeeds = (Observers::kNeeds | ... | Needs{});
    Change change = ledger_.add<kByBlocks>(e);  // not const: g++ 12 keeps what is const in memory
    if constexpr (kNeeds.scopes) scopes_.enter(e, ledger_.now().event);
    (observers.see(e, change, *this), ...);
    if constexpr (kNeeds.live) live_.add(e, change, ledger_.now());
    if constexpr (kNeeds.scopes) scopes_.leave(e);
  }
  template <bool kByBlocks, class... Observers>
  void walk(const Tape& tape, Observers&... observers) {
    constexpr Needs kNeeds = (Observers::kNeeds | ... | Needs{});
    constexpr ColumnSet kColumns = kNeeds.columns | kLedgerColumns |
                                   (kNeeds.live ? kPlaceColumns : ColumnSet{}) |
                                   (kNeeds.scopes ? kScopeColumns : ColumnSet{});
    const EventColumns& events = tape.events();
    const std::size_t storages = storage_count(events);
    ledger_.reserve(storages);
    if constexpr (kNeeds.live) live_.reserve(storages);
    for (std::size_t i = 0; i < events.size(); ++i) {
      prefetch<kNeeds>(events.subjects(), i);
      add_one<kByBlocks>(events.row<kColumns>(i), observers...);
    }
  }
  // Storages are far apart in memory: those of the events to come are fetched while the processor
  // is busy with this one. What the live set has of a storage takes two looks.
  static constexpr std::size_t kFar = 32, kNear = 8;
  template <Needs kNeeds>
  [[gnu::always_inline]] void prefetch(std::span<const std::uint32_t> subjects,
                                       std::size_t i) const {
    if (i + kFar >= subjects.size()) return;
    ledger_.prefetch(subjects[i + kNear]);
    if constexpr (kNeeds.live) {
      live_.prefetch_slot(subjects[i + kFar]);
      live_.prefetch(subjects[i + kNear]);
    }
  }

  Ledger ledger_;
  LiveSet live_;
  ScopeFollower scopes_;
};

}  // namespace tidemark
