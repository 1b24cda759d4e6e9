// Addresses for segments: the lowest gap that is wide enough.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark {

class AddressSpace {
 public:
  // -1 where there is none left.
  std::int64_t take(std::int64_t bytes);
  void give_back(std::int64_t address, std::int64_t bytes);

 private:
  static constexpr std::int64_t kFirst = std::int64_t{1} << 32;
  static constexpr std::int64_t kLast = std::int64_t{1} << 62;
  struct Gap {
    std::int64_t address = 0, size = 0;
  };
  std::vector<Gap> gaps_ = {{kFirst, kLast - kFirst}};  // by address, none beside another
};

}  // namespace tidemark
