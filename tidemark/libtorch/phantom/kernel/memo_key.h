// Which calls are the same: 128 bits over all that can decide an operator's shapes.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

struct MemoKey {
  std::uint64_t a = 0x243f6a8885a308d3, b = 0x13198a2e03707344;

  void mix(std::uint64_t word) {
    a = (std::rotl(a, 23) ^ word) * 0x9e3779b97f4a7c15;
    b = std::rotl(b + word, 41) * 0xd6e8feb86659fd93 ^ (word >> 7);
  }
  bool operator==(const MemoKey&) const = default;
};

// Nothing for a call with an argument we cannot compare. Of floating-point scalars beside tensors
// only "zero", "one" or "other" counts, unless they may change a shape.
std::optional<MemoKey> memo_key(const CallFrame& frame, bool floats_change_shapes);
// The layouts of these tensors and which of them share storages: has a call changed them?
MemoKey layout_key(const std::vector<at::Tensor>& tensors);

}  // namespace tidemark::phantom

template <>
struct std::hash<tidemark::phantom::MemoKey> {
  std::size_t operator()(const tidemark::phantom::MemoKey& key) const noexcept {
    return key.a ^ (key.b >> 3);
  }
};
