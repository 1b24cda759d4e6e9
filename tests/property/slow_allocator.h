// The caching allocator once more, slow and obvious: segments are lists of pieces, and everything
// is found by looking at all of them. Expandable segments and garbage collection are left out.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <vector>

#include "tidemark/engine/allocator/settings.h"

namespace tidemark::test {

class SlowAllocator {
 public:
  using Place = std::int64_t;  // of a piece: never used twice

  SlowAllocator(const AllocatorSettings& settings, std::int64_t device_bytes)
      : settings_(settings), device_bytes_(device_bytes) {}

  // None where memory has run out.
  std::optional<Place> malloc(std::int64_t bytes, std::uint32_t stream);
  void free(Place place);
  void record_stream(Place place, std::uint32_t stream);
  void empty_cache();

  std::int64_t size_of(Place place) const;
  std::int64_t allocated() const;
  std::int64_t active() const;
  std::int64_t reserved() const;
  std::int64_t retries() const { return retries_; }
  std::size_t segment_count() const { return segments_.size(); }

 private:
  enum class State : std::uint8_t { Free, Allocated, Waiting };
  struct Piece {
    Place place = 0;
    std::int64_t size = 0;
    State state = State::Free;
    bool is_used_elsewhere = false;
  };
  struct Segment {
    std::int64_t number = 0;
    std::uint32_t stream = 0;
    bool is_small = false;
    std::list<Piece> pieces;
  };
  struct Found {
    Segment* segment = nullptr;
    std::list<Piece>::iterator piece;
  };
  std::int64_t round(std::int64_t bytes) const;
  std::int64_t segment_bytes(std::int64_t size) const;
  Found best_fit(std::int64_t size, std::uint32_t stream);
  Found new_segment(std::int64_t size, std::uint32_t stream);
  bool release_oversize(std::int64_t size, std::uint32_t stream);
  Found find(Place place);
  void join(Segment& segment);
  void pass_events();
  template <class Count>
  std::int64_t sum(Count&& counts) const;

  AllocatorSettings settings_;
  std::int64_t device_bytes_, retries_ = 0;
  std::list<Segment> segments_;  // oldest first
  Place last_place_ = 0;
  std::int64_t last_number_ = 0;
};

}  // namespace tidemark::test
