// Addresses for segments, as CUDA's driver hands them out: between equal blocks they decide.
//
// Read off 47 training runs on an H200 (tests/data/segments): segments come in chunks of 32 MiB,
// each below the last, and what is left of a chunk serves later ones, the lowest first. Below the
// first chunk is a room that large segments fill. The driver takes 64 MiB for itself there, when
// its first large kernels come; right behind the first large segment in three of the 21 runs that
// use the room, later or elsewhere in others. Address space that is reserved for an expandable
// segment goes upwards, elsewhere. What else the driver and the host put between shifts all this,
// so it is likely, not certain.
//
//   ... <- chunk 3 | chunk 2 | large 1, the driver's, large 2 ... | chunk 1 |   reserve 1 -> ...
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark {

class AddressSpace {
 public:
  std::int64_t take(std::int64_t bytes);
  std::int64_t reserve(std::int64_t bytes);
  void give_back(std::int64_t address, std::int64_t bytes);

 private:
  static constexpr std::int64_t kChunk = std::int64_t{32} << 20;
  static constexpr std::int64_t kTop = std::int64_t{1} << 62;
  static constexpr std::int64_t kNowhere = -1;
  struct Gap {
    std::int64_t address = 0, size = 0;
  };
  using Gaps = std::vector<Gap>;
  std::int64_t take_chunk(std::int64_t bytes);
  std::int64_t cut(Gaps::iterator gap, std::int64_t bytes);
  void put_gap(std::int64_t address, std::int64_t bytes);

  Gaps gaps_;  // by address, none beside another
  std::int64_t lowest_chunk_ = kTop, next_reserve_ = kTop;
  std::int64_t room_ = kNowhere;  // where the room below the first chunk begins, while it is whole
};

}  // namespace tidemark
