// Events of an optimizer's step that wait until it is known what the storages born in it are.
//
//   begin   alloc a    alloc b    free b   alloc c    a and c are in the optimizer's state   end
//           Temporary  Temporary           Temporary  -> OptimizerState, from their births on
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tidemark/engine/tape/builder.h"

namespace tidemark::phantom {

// One call of a TapeBuilder.
struct LoggedEvent {
  Kind kind = Kind::Mark;
  std::int64_t time_ns = 0;
  StorageId storage;
  std::int64_t bytes = 0;
  DeviceId device;
  Category category = Category::Unknown;
  Place place;  // of a scope's border: the scope itself
};

class HeldEvents {
 public:
  // At most so many wait, which is 80 MB; the first step over half a million states is shorter.
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  // Storages have rising numbers; those from `first` on are born in this step.
  void begin(std::size_t first) {
    is_on_ = true;
    first_ = born_ = first;
    alive_ = 0;
  }
  void end() { is_on_ = false; }
  bool is_on() const { return is_on_; }
  bool is_full() const { return events_.size() >= kMost; }
  std::size_t size() const { return events_.size(); }
  // Storages born since the last `begin` that have not died.
  std::int64_t alive() const { return alive_; }

  void add(const LoggedEvent& event) {
    if (event.kind == Kind::Alloc) {
      births_.push_back(events_.size());
      born_ = event.storage.value + std::size_t{1};
      ++alive_;
    }
    if (event.kind == Kind::Free && event.storage.value >= first_) --alive_;
    events_.push_back(event);
  }

  // Makes it this category from its birth on; false where its birth does not wait here.
  bool relabel_birth(StorageId storage, Category category) {
    const std::size_t waiting_from = born_ - births_.size();
    if (storage.value < waiting_from || storage.value >= born_) return false;
    events_[births_[storage.value - waiting_from]].category = category;
    return true;
  }

  // All that wait, in their order.
  std::vector<LoggedEvent> take() {
    births_.clear();
    return std::exchange(events_, {});
  }

 private:
  bool is_on_ = false;
  std::size_t first_ = 0;  // the number of the first storage of this step
  std::size_t born_ = 0;   // past the last one
  std::int64_t alive_ = 0;
  std::vector<LoggedEvent> events_;
  std::vector<std::size_t> births_;  // where in events_, for the last storages up to born_
};

}  // namespace tidemark::phantom
