// Run lengths of up to 255 bytes.
#include "tests/support/toy_codec.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"

namespace tidemark::test {

std::vector<std::byte> ToyCodec::compress(std::span<const std::byte> raw) const {
  std::vector<std::byte> packed;
  for (std::size_t at = 0; at < raw.size();) {
    std::size_t end = at + 1;
    while (end < raw.size() && end - at < 255 && raw[end] == raw[at]) ++end;
    packed.push_back(static_cast<std::byte>(end - at));
    packed.push_back(~raw[at]);
    at = end;
  }
  return packed;
}

void ToyCodec::decompress(std::span<const std::byte> packed, std::span<std::byte> raw) const {
  std::size_t filled = 0;
  for (std::size_t at = 0; at + 1 < packed.size(); at += 2) {
    const auto count = static_cast<std::size_t>(packed[at]);
    if (count > raw.size() - filled) throw Error(ErrorCode::BadFormat, "a run is too long");
    std::fill_n(raw.begin() + static_cast<std::ptrdiff_t>(filled), count, ~packed[at + 1]);
    filled += count;
  }
  if (filled != raw.size()) throw Error(ErrorCode::BadFormat, "a packed block is too short");
}

}  // namespace tidemark::test
