// The checksum's rounds: additions of little-endian words, and at the end multiply-and-fold.
#include "tidemark/engine/base/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tidemark/engine/base/little_endian.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= kPrime;
  return x ^ (x >> 29);
}

}  // namespace

// On copies, which stay in registers; eight lanes are four operations of a processor that adds two
// words at once.
std::span<const std::byte> Checksum::eat(std::span<const std::byte> bytes) {
  Lanes sums = sums_, paths = paths_;
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock))
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += load_little_endian<std::uint64_t>(bytes.data() + 8 * lane);
      paths[lane] = std::rotl(paths[lane], 29) + sums[lane];
    }
  sums_ = sums;
  paths_ = paths;
  return bytes;
}

void Checksum::update(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;  // an empty span may point nowhere
  length_ += bytes.size();
  if (pending_size_ > 0) {
    const std::size_t taken = std::min(kBlock - pending_size_, bytes.size());
    std::memcpy(pending_.data() + pending_size_, bytes.data(), taken);
    pending_size_ += taken;
    bytes = bytes.subspan(taken);
    if (pending_size_ < kBlock) return;
    eat(pending_);
    pending_size_ = 0;
  }
  bytes = eat(bytes);
  if (!bytes.empty()) std::memcpy(pending_.data(), bytes.data(), bytes.size());
  pending_size_ = bytes.size();
}

std::uint64_t Checksum::value() const {
  Checksum last = *this;
  std::fill(last.pending_.begin() + last.pending_size_, last.pending_.end(), std::byte{0});
  last.eat(last.pending_);
  std::uint64_t sum = mix(length_);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    sum = mix(mix(sum ^ last.sums_[lane]) ^ last.paths_[lane]);
  return sum;
}

std::uint64_t checksum(std::span<const std::byte> bytes) {
  Checksum sum;
  sum.update(bytes);
  return sum.value();
}

}  // namespace tidemark
