// The storages alive now, each with where and when it was born.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/base/prefetch.h"
#include "tidemark/engine/replay/ledger.h"

namespace tidemark {

struct Birth {
  Moment at;
  ScopeId scope;
  StackId stack;
  CallId call;
  Phase phase = Phase::Other;
};

struct LiveStorage {
  StorageId storage;
  ChargedState state;
  Birth born;
  ScopeId owner;                    // the scope that labelled it last, else the one it was born in
  std::int64_t changed_event = -1;  // the last that changed it; at first its birth
};

class LiveSet {
 public:
  // Adds an event after the ledger has.
  void add(const Event& e, const Change& change, const Moment& now) {
    if (!changes_storage(e.kind)) return;
    if (change.after.alive() && e.kind == Kind::Alloc) insert(e, change.after, now);
    else if (change.before.alive() && !change.after.alive()) erase(e.storage());
    else if (change.after.alive()) update(e, change.after, now);
  }

  // Null when the storage is not alive.
  const LiveStorage* find(StorageId storage) const {
    if (storage.value >= slot_of_.size() || slot_of_[storage.value] == kNone) return nullptr;
    return &slots_[slot_of_[storage.value]];
  }
  std::size_t size() const { return slots_.size() - free_.size(); }
  // In no particular order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const LiveStorage& one : slots_)
      if (one.state.alive()) visit(one);
  }

  // Makes room for storages below this number at once.
  void reserve(std::size_t storages);
  // Asks the processor to fetch where a storage is kept, and later what is kept of it.
  [[gnu::always_inline]] void prefetch_slot(std::uint32_t storage) const {
    if (storage < slot_of_.size()) tidemark::prefetch(&slot_of_[storage]);
  }
  [[gnu::always_inline]] void prefetch(std::uint32_t storage) const {
    if (const LiveStorage* one = find(StorageId(storage))) {
      tidemark::prefetch(one);
      tidemark::prefetch(&one->changed_event);
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  void insert(const Event& e, const ChargedState& state, const Moment& now) {
    if (e.subject >= slot_of_.size()) [[unlikely]]
      reserve(e.subject + slot_of_.size() / 2 + 1);
    std::uint32_t& slot = slot_of_[e.subject];
    if (slot == kNone) slot = take_slot();
    slots_[slot] = {
        e.storage(), state, {now, e.scope, e.stack, e.call, e.phase}, e.scope, now.event};
  }
  void erase(StorageId storage) {
    std::uint32_t& slot = slot_of_[storage.value];
    slots_[slot].state = {};
    free_.push_back(slot);
    slot = kNone;
  }
  std::uint32_t take_slot();
  void update(const Event& e, const ChargedState& state, const Moment& now) {
    LiveStorage& one = slots_[slot_of_[e.subject]];
    one.state = state;
    one.changed_event = now.event;
    if (e.kind == Kind::Relabel && e.scope) one.owner = e.scope;
  }

  std::vector<std::uint32_t> slot_of_;  // by storage
  std::vector<LiveStorage> slots_;      // the living, and free places for more
  std::vector<std::uint32_t> free_;
};

}  // namespace tidemark
