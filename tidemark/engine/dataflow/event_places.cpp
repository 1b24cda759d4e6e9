// Hands module, phase and operator down from each event to those below it.
#include "tidemark/engine/dataflow/event_places.h"

#include <map>
#include <unordered_map>
#include <utility>

namespace tidemark::dataflow {
namespace {

constexpr std::uint32_t kNoScope = 0;  // the first of EventPlaces::scopes

class Placing {
 public:
  Placing(const Recording& recording, const Tree& tree, const std::vector<Position>& nodes)
      : recording_(recording), tree_(tree), is_node_(tree.size()) {
    for (Position node : nodes) is_node_[node] = true;
    places_.scopes.emplace_back();
    places_.scope_of.resize(tree.size());
    places_.phase_of.resize(tree.size(), Phase::Other);
    places_.operator_of.resize(tree.size(), kNoPosition);
  }

  EventPlaces run() {
    for (Position at = 0; at < tree_.size(); ++at) place(at);
    for (Position at = 0; at < tree_.size(); ++at) follow_forward(at);
    follow_optimizers();
    for (Position at : tree_.by_time)
      if (is_module_call(event_at(at))) places_.module_calls.push_back(at);
    return std::move(places_);
  }

 private:
  const Event& event_at(Position at) const { return recording_.events[tree_.events[at].value]; }
  static bool is_module_call(const Event& event) {
    return event.kind == EventKind::PythonCall && event.name;
  }

  void place(Position at) {
    const Event& event = event_at(at);
    const Position above = tree_.parents[at];
    if (above != kNoPosition) {
      places_.scope_of[at] = places_.scope_of[above];
      places_.phase_of[at] = places_.phase_of[above];
      places_.operator_of[at] = places_.operator_of[above];
    }
    if (event.kind == EventKind::Operator) place_operator(at, event);
    if (is_module_call(event)) {
      const std::uint32_t around = event.is_whole_path ? kNoScope : places_.scope_of[at];
      places_.scope_of[at] = scope_below(around, event.name);
      places_.phase_of[at] = tree_.below_backward[at] ? Phase::Recompute : Phase::Forward;
    }
  }

  void place_operator(Position at, const Event& event) {
    const Operator& op = recording_.operators[event.detail];
    if (op.scope == RecordScope::User) return;
    if (is_node_[at]) places_.operator_of[at] = at;
    if (op.scope == RecordScope::BackwardFunction) places_.phase_of[at] = Phase::Backward;
    else if (op.sequence_number >= 0 && op.forward_thread == 0 && !tree_.below_backward[at])
      forward_[{event.thread, op.sequence_number}] = places_.scope_of[at];
  }

  // A backward function is in its forward operator's module, and so is what is below it, up to
  // calls of modules.
  void follow_forward(Position at) {
    const Event& event = event_at(at);
    if (is_module_call(event)) return;
    if (const Position above = tree_.parents[at]; above != kNoPosition)
      places_.scope_of[at] = places_.scope_of[above];
    if (event.kind != EventKind::Operator) return;
    const Operator& op = recording_.operators[event.detail];
    if (op.scope != RecordScope::BackwardFunction) return;
    const auto found = forward_.find({op.forward_thread, op.sequence_number});
    if (found != forward_.end()) places_.scope_of[at] = found->second;
  }

  // By time: an annotation does not lie around what happens while it is open, but beside it.
  void follow_optimizers() {
    std::unordered_map<std::uint64_t, std::int64_t> until_ns;  // by thread
    for (Position at : tree_.by_time) {
      const Event& event = event_at(at);
      if (event.kind == EventKind::Operator &&
          recording_.names[event.name].starts_with("Optimizer.step#"))
        until_ns[event.thread] = event.end_ns;
      const auto step = until_ns.find(event.thread);
      if (step != until_ns.end() && event.start_ns <= step->second &&
          places_.phase_of[at] == Phase::Other)
        places_.phase_of[at] = Phase::Optimizer;
    }
  }

  std::uint32_t scope_below(std::uint32_t parent, StringId name) {
    const auto [known, is_new] = scope_numbers_.try_emplace(
        std::pair(parent, name), static_cast<std::uint32_t>(places_.scopes.size()));
    if (is_new) {
      const std::string& path = places_.scopes[parent];
      places_.scopes.push_back((path.empty() ? path : path + ".") +
                               std::string(recording_.names[name]));
    }
    return known->second;
  }

  const Recording& recording_;
  const Tree& tree_;
  std::vector<bool> is_node_;  // by position
  EventPlaces places_;
  std::map<std::pair<std::uint32_t, StringId>, std::uint32_t> scope_numbers_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::uint32_t> forward_;  // scope of the last
};

}  // namespace

EventPlaces find_places(const Recording& recording, const Tree& tree,
                        const std::vector<Position>& nodes) {
  return Placing(recording, tree, nodes).run();
}

}  // namespace tidemark::dataflow
