// Finds parents where they are not given, and lays the tree out in one row.
#include "tidemark/engine/dataflow/tree.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>

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

// The innermost open event of each thread. One that ends closes all that began inside it, also what
// says to end later: an annotation that a function begins and does not end.
class OpenEvents {
 public:
  explicit OpenEvents(const Recording& recording)
      : recording_(recording),
        parents_(recording.events.size()),
        closed_(recording.events.size()) {}

  // Of rows by start.
  void enter(std::uint32_t row) {
    const Event& event = recording_.events[row];
    while (!ends_.empty() && ends_.top().first < event.start_ns) {
      close(ends_.top().second);
      ends_.pop();
    }
    auto around = innermost_.find(event.thread);
    if (around == innermost_.end() && event.kind == EventKind::Operator)
      around = innermost_.find(recording_.operators[event.detail].forward_thread);
    if (around != innermost_.end()) parents_[row] = EventId(around->second);
    if (event.end_ns <= event.start_ns) return;
    innermost_[event.thread] = row;
    ends_.emplace(event.end_ns, row);
  }

  std::vector<EventId> parents() && { return std::move(parents_); }

 private:
  void close(std::uint32_t row) {
    if (closed_[row]) return;
    const std::uint64_t thread = recording_.events[row].thread;
    const auto top = innermost_.find(thread);
    if (top == innermost_.end()) return;
    for (EventId inner(top->second); inner && inner.value != row; inner = parents_[inner.value])
      closed_[inner.value] = true;
    closed_[row] = true;
    if (parents_[row]) top->second = parents_[row].value;
    else innermost_.erase(top);
  }

  using End = std::pair<std::int64_t, std::uint32_t>;
  const Recording& recording_;
  std::vector<EventId> parents_;
  std::vector<bool> closed_;
  std::unordered_map<std::uint64_t, std::uint32_t> innermost_;  // by thread
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
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
    for (std::uint32_t row : order) open.enter(row);
    parents = std::move(open).parents();
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
