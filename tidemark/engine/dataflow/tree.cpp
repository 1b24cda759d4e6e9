// Finds parents where they are not given, and lays the tree out in one row.
#include "tidemark/engine/dataflow/tree.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "tidemark/engine/base/error.h"

namespace tidemark::dataflow {
namespace {

// Rows of events by start, stably.
std::vector<std::uint32_t> rows_by_start(const Recording& recording) {
  std::vector<std::uint32_t> rows(recording.events.size());
  std::iota(rows.begin(), rows.end(), 0u);
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return recording.events[a].start_ns < recording.events[b].start_ns;
  });
  return rows;
}

// The open events of each thread, innermost last.
class OpenEvents {
 public:
  explicit OpenEvents(const Recording& recording) : recording_(recording) {}

  // The parent of an event, which is then open itself.
  EventId enter(std::uint32_t row) {
    const Event& event = recording_.events[row];
    auto* stack = &closed_before(event.thread, event.start_ns);
    if (stack->empty() && event.kind == EventKind::Operator)
      if (const auto forward = recording_.operators[event.detail].forward_thread)
        stack = &closed_before(forward, event.start_ns);
    const EventId parent = stack->empty() ? EventId() : EventId(stack->back());
    if (event.end_ns > event.start_ns) open_[event.thread].push_back(row);
    return parent;
  }

 private:
  std::vector<std::uint32_t>& closed_before(std::uint64_t thread, std::int64_t time_ns) {
    auto& stack = open_[thread];
    while (!stack.empty() && recording_.events[stack.back()].end_ns < time_ns) stack.pop_back();
    return stack;
  }

  const Recording& recording_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> open_;
};

// Children of each event, and of no event at the end, in the given order.
struct Children {
  std::vector<std::uint32_t> first, next;

  Children(const std::vector<EventId>& parents, const std::vector<std::uint32_t>& order)
      : first(parents.size() + 1, kNoRow), next(parents.size(), kNoRow) {
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::uint32_t row = order[i];
      auto& head = first[parents[row] ? parents[row].value : parents.size()];
      next[row] = head;
      head = row;
    }
  }
};

void check_parents(const Recording& recording) {
  for (const Event& event : recording.events)
    if (event.parent && event.parent.value >= recording.events.size())
      throw Error(ErrorCode::BadFormat, "an event's parent does not exist");
}

// Every event before its children. Events of a ring of parents are reached from no root.
void lay_out(Tree& tree, const Children& children) {
  const auto root = static_cast<std::uint32_t>(children.next.size());
  std::vector<std::uint32_t> next = {children.first[root]};
  std::vector<Position> above = {kNoPosition};
  while (!next.empty()) {
    const std::uint32_t row = next.back();
    if (row == kNoRow) {
      if (above.back() != kNoPosition) tree.ends[above.back()] = static_cast<Position>(tree.size());
      next.pop_back();
      above.pop_back();
      continue;
    }
    next.back() = children.next[row];
    const auto position = static_cast<Position>(tree.size());
    tree.events.emplace_back(row);
    tree.parents.push_back(above.back());
    tree.ends.push_back(position + 1);
    next.push_back(children.first[row]);
    above.push_back(position);
  }
}

void mark_backward(Tree& tree, const Recording& recording) {
  tree.below_backward.resize(tree.size());
  for (Position at = 0; at < tree.size(); ++at) {
    const Event& event = recording.events[tree.events[at].value];
    const bool backward = event.kind == EventKind::Operator &&
                          recording.operators[event.detail].scope == RecordScope::BackwardFunction;
    const Position parent = tree.parents[at];
    tree.below_backward[at] = backward || (parent != kNoPosition && tree.below_backward[parent]);
  }
}

void sort_by_time(Tree& tree, const Recording& recording) {
  std::vector<std::pair<std::int64_t, Position>> starts(tree.size());
  for (Position at = 0; at < tree.size(); ++at)
    starts[at] = {recording.events[tree.events[at].value].start_ns, at};
  std::sort(starts.begin(), starts.end());
  tree.by_time.resize(tree.size());
  for (std::size_t i = 0; i < starts.size(); ++i) tree.by_time[i] = starts[i].second;
}

}  // namespace

Tree build_tree(const Recording& recording) {
  check_parents(recording);
  const std::size_t count = recording.events.size();
  std::vector<EventId> parents(count);
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  if (recording.has_tree) {
    for (std::size_t row = 0; row < count; ++row) parents[row] = recording.events[row].parent;
  } else {
    order = rows_by_start(recording);
    OpenEvents open(recording);
    for (std::uint32_t row : order) parents[row] = open.enter(row);
  }
  Tree tree;
  for (auto* column : {&tree.parents, &tree.ends}) column->reserve(count);
  tree.events.reserve(count);
  lay_out(tree, Children(parents, order));
  mark_backward(tree, recording);
  sort_by_time(tree, recording);
  return tree;
}

}  // namespace tidemark::dataflow
