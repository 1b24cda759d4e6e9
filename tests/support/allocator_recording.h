// What a real GPU's caching allocator did, from a file of tests/data/allocator.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/engine/allocator/segment.h"

namespace tidemark::test {

struct RecordedEvent {
  // See tests/data/allocator/README.md for the letters.
  char kind = '+';
  std::int64_t number = 0;       // bytes of a request, or which one is freed
  std::int64_t block_bytes = 0;  // of the block that a request got
  SegmentEvent segment;          // of S, F, M and U
  std::uint32_t stream = 0;
  PoolId pool = kDefaultPool;
};

struct AllocatorRecording {
  std::string name, settings;
  std::int64_t device_bytes = 0;
  std::optional<std::int64_t> limit_bytes;
  std::map<std::string, std::vector<std::int64_t>> final;  // current, peak, total, freed
  std::uint64_t places = 0;  // the sum of each request's number times its place
  std::vector<RecordedEvent> events;
};

// All of them, by name.
std::vector<AllocatorRecording> read_allocator_recordings(const std::string& folder);

}  // namespace tidemark::test
