// The checksum's rounds: multiply-and-fold on little-endian words.
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

void Checksum::eat(const std::byte* block) {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const auto word = load_little_endian<std::uint64_t>(block + 8 * lane);
    lanes_[lane] = std::rotl((lanes_[lane] ^ word) * kPrime, 27);
  }
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
    eat(pending_.data());
    pending_size_ = 0;
  }
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) eat(bytes.data());
  if (!bytes.empty()) std::memcpy(pending_.data(), bytes.data(), bytes.size());
  pending_size_ = bytes.size();
}

std::uint64_t Checksum::value() const {
  Checksum last = *this;
  std::fill(last.pending_.begin() + last.pending_size_, last.pending_.end(), std::byte{0});
  last.eat(last.pending_.data());
  std::uint64_t sum = mix(length_);
  for (std::uint64_t lane : last.lanes_) sum = mix(sum ^ lane);
  return sum;
}

std::uint64_t checksum(std::span<const std::byte> bytes) {
  Checksum sum;
  sum.update(bytes);
  return sum.value();
}

}  // namespace tidemark
