// What is known of each recent forward operator, for the backward that comes of it.
//
// Autograd numbers an operator's node as it is made, each thread for itself; the node tells both
// numbers when it runs, on a thread that knows neither the program's line nor its module.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tidemark::attribution {

// For any thread, and for static memory. What is too long ago is forgotten: another operator has
// its place.
class Forwards {
 public:
  void remember(std::uint64_t sequence, std::uint64_t thread, std::uint64_t what) {
    at(sequence, thread).store(what, std::memory_order_relaxed);
  }
  // 0 where nothing was remembered.
  std::uint64_t find(std::uint64_t sequence, std::uint64_t thread) {
    return at(sequence, thread).load(std::memory_order_relaxed);
  }
  void forget() {
    for (auto& one : all_) one.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kRemembered = std::size_t{1} << 20;
  std::atomic<std::uint64_t>& at(std::uint64_t sequence, std::uint64_t thread) {
    return all_[(sequence + thread * 0x9e3779b97f4a7c15) % kRemembered];
  }

  std::array<std::atomic<std::uint64_t>, kRemembered> all_{};
};

}  // namespace tidemark::attribution
