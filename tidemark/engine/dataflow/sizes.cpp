// Takes sizes from allocations, and from the shapes of tensors where there is none.
#include "tidemark/engine/dataflow/sizes.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tidemark/engine/base/saturating.h"

namespace tidemark::dataflow {
namespace {

// A tensor without dimensions has one item.
std::int64_t reach_of(const TensorFacts& t, const Recording& recording) {
  std::int64_t items = t.dimensions == 0 ? 1 : 0;
  for (std::uint32_t d = t.first_size; d < t.first_size + t.dimensions; ++d)
    if (recording.sizes[d] > 0 && recording.strides[d] > 0)
      items = std::max(items, multiply_saturating(recording.sizes[d], recording.strides[d]));
  return multiply_saturating(items, std::int64_t{t.item_bytes});
}

// The largest that was seen, as an input of an operator or at an owner.
void see_tensors(const Recording& recording, const Keys& keys, std::vector<std::int64_t>& bytes) {
  for (std::size_t row = 0; row < recording.tensors.size(); ++row) {
    const KeyId key = keys.of_tensors[row];
    const TensorFacts& t = recording.tensors[row];
    if (key && t.strided) bytes[key.value] = std::max(bytes[key.value], reach_of(t, recording));
  }
}

}  // namespace

std::vector<std::int64_t> find_sizes(const Recording& recording, const Tree& tree, const Keys& keys,
                                     Diagnostics& diagnostics) {
  std::vector<std::int64_t> bytes(keys.size(), kUnknownBytes);
  see_tensors(recording, keys, bytes);
  std::vector<bool> allocated(keys.size());
  for (Position at : tree.by_time) {
    const dataflow::Event& event = recording.events[tree.events[at].value];
    if (event.kind != EventKind::Allocation) continue;
    const KeyId key = keys.of_allocations[event.detail];
    if (!key) continue;
    const std::int64_t size = recording.allocations[event.detail].bytes;
    const std::int64_t now = size == INT64_MIN ? INT64_MAX : std::abs(size);
    if (!allocated[key.value]) {
      allocated[key.value] = true;
      bytes[key.value] = now;
    } else if (bytes[key.value] != now) {
      diagnostics.add("size-changed", Severity::Warning, "event " + std::to_string(at),
                      "a storage was born and freed with different sizes: " +
                          std::to_string(bytes[key.value]) + " and " + std::to_string(now));
    }
  }
  return bytes;
}

}  // namespace tidemark::dataflow
