// Segments: what the allocator takes from the device, what it tells of that, and a snapshot.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark {

using PoolId = std::uint32_t;
inline constexpr PoolId kDefaultPool = 0;

struct Segment {
  std::int64_t address = 0;
  std::int64_t size = 0;           // of an expandable one: its address space
  std::uint32_t registration = 0;  // the how manieth it was
  bool is_placed = false;          // its address was given, not chosen
  std::int64_t page = 0;           // of an expandable one: what is mapped at once
};

// Memory that comes from the device or goes back to it.
enum class SegmentAction : std::uint8_t { Alloc, Free, Map, Unmap };
struct SegmentEvent {
  SegmentAction action = SegmentAction::Alloc;
  std::int64_t address = 0, bytes = 0;
  std::uint32_t stream = 0;
  bool operator==(const SegmentEvent&) const = default;
};

struct BlockFacts {
  std::int64_t address = 0, size = 0, requested = 0;  // requested: 0 where it is not active
  bool is_allocated = false, is_active = false;       // active: in use, or waiting for a stream
};
// Of an expandable segment each range that has memory.
struct SegmentFacts {
  std::int64_t address = 0, size = 0;
  std::uint32_t stream = 0;
  PoolId pool = kDefaultPool;
  bool is_small = false, is_expandable = false;
  std::vector<BlockFacts> blocks;
};

}  // namespace tidemark
