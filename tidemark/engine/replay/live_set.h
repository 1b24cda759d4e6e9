// The storages alive now, each with where and when it was born.
#pragma once

#include <cstdint>
#include <vector>

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
  StorageState state;
  Birth born;
  ScopeId owner;  // the scope that labelled it last, else the one it was born in
  std::int64_t changed_event = -1;  // the last that changed it; at first its birth
};

class LiveSet {
 public:
  // Adds an event after the ledger has.
  void add(const Event& e, const StorageChange& change, const Moment& now) {
    if (e.kind > Kind::Relabel) return;
    if (change.after.alive() && e.kind == Kind::Alloc) insert(e, change.after, now);
    else if (change.before.alive() && !change.after.alive()) erase(e.storage());
    else if (change.after.alive()) update(e, change.after, now);
  }

  // Null when the storage is not alive.
  const LiveStorage* find(StorageId storage) const {
    if (storage.value >= slot_of_.size() || slot_of_[storage.value] == kNone) return nullptr;
    return &slots_[slot_of_[storage.value]];
  }
  // In no particular order.
  const std::vector<LiveStorage>& all() const { return slots_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  void insert(const Event& e, const StorageState& state, const Moment& now);
  void erase(StorageId storage);
  void update(const Event& e, const StorageState& state, const Moment& now) {
    LiveStorage& one = slots_[slot_of_[e.subject]];
    one.state = state;
    one.changed_event = now.event;
    if (e.kind == Kind::Relabel && e.scope) one.owner = e.scope;
  }

  std::vector<std::uint32_t> slot_of_;  // by storage
  std::vector<LiveStorage> slots_;
};

}  // namespace tidemark
