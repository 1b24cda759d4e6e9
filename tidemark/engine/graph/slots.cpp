// Gaps, windows and spreading.
#include "tidemark/engine/graph/slots.h"

#include <algorithm>
#include <bit>

namespace tidemark {

Slots::Slots(std::size_t node_count, std::span<const NodeId> order)
    : slot_(node_count, kNone),
      node_at_(std::bit_ceil(std::max<std::size_t>(2 * order.size(), 2))),
      next_(node_count),
      previous_(node_count) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    link(last_, order[i], NodeId());
    place(order[i], static_cast<std::uint32_t>(i * node_at_.size() / order.size()));
  }
}

void Slots::link(NodeId previous, NodeId node, NodeId next) {
  previous_[node.value] = previous;
  next_[node.value] = next;
  (previous ? next_[previous.value] : first_) = node;
  (next ? previous_[next.value] : last_) = node;
}

void Slots::place(NodeId node, std::uint32_t slot) {
  slot_[node.value] = slot;
  node_at_[slot] = node;
}

void Slots::swap(NodeId a, NodeId b) {
  const std::uint32_t slot_a = slot_[a.value], slot_b = slot_[b.value];
  // Unlink the later one first: then "after whom" is right for both, neighbours included.
  const NodeId early = slot_a < slot_b ? a : b, late = early == a ? b : a;
  const std::uint32_t low = std::min(slot_a, slot_b), high = std::max(slot_a, slot_b);
  const NodeId before_late = previous(late) == early ? late : previous(late);
  const NodeId before_early = previous(early);
  remove(late);
  remove(early);
  link(before_early, late, before_early ? next(before_early) : first_);
  link(before_late, early, next(before_late));
  place(late, low);
  place(early, high);
}

void Slots::remove(NodeId node) {
  const NodeId previous = previous_[node.value], next = next_[node.value];
  (previous ? next_[previous.value] : first_) = next;
  (next ? previous_[next.value] : last_) = previous;
  node_at_[slot_[node.value]] = NodeId();
  slot_[node.value] = kNone;
}

Slots::Range Slots::insert_after(NodeId previous, NodeId node) {
  const NodeId next = previous ? next_[previous.value] : first_;
  link(previous, node, next);
  const std::uint32_t begin = previous ? slot_[previous.value] + 1 : 0;
  const auto end = next ? slot_[next.value] : static_cast<std::uint32_t>(capacity());
  if (begin == end) return spread(node);
  place(node, begin + (end - begin) / 2);
  return {slot_[node.value], slot_[node.value] + 1};
}

std::uint32_t Slots::count_in(std::uint32_t begin, std::uint32_t end) const {
  std::uint32_t count = 0;
  for (std::uint32_t slot = begin; slot < end; ++slot) count += static_cast<bool>(node_at_[slot]);
  return count;
}

// Windows double until one is empty enough: full at one slot, half full at all of them.
Slots::Range Slots::spread(NodeId node) {
  const NodeId neighbour = previous_[node.value] ? previous_[node.value] : next_[node.value];
  const std::uint32_t around = slot_[neighbour.value];
  const auto levels = static_cast<double>(std::bit_width(capacity()) - 1);
  Range window{around, around + 1};
  double level = 0;
  std::uint32_t size = 1, count = 1;
  do {
    size *= 2, level += 1;
    window.begin = around / size * size;
    window.end = window.begin + size;
    count = count_in(window.begin, window.end) + 1;
  } while (count > size * (1 - 0.5 * level / levels) && size < capacity());

  NodeId one = neighbour;
  while (previous_[one.value] &&
         (previous_[one.value] == node || slot_[previous_[one.value].value] >= window.begin))
    one = previous_[one.value];
  for (std::uint32_t slot = window.begin; slot < window.end; ++slot) node_at_[slot] = NodeId();
  for (std::uint32_t i = 0; i < count; ++i, one = next_[one.value])
    place(one, window.begin + static_cast<std::uint32_t>(std::uint64_t(i) * size / count));
  return window;
}

}  // namespace tidemark
