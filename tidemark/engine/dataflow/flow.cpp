// Finds the outermost operators, then each one's edges from all that happens inside it.
#include "tidemark/engine/dataflow/flow.h"

#include <algorithm>
#include <string>

namespace tidemark::dataflow {
namespace {

// What a node's operators said of a key; bits.
enum Said : std::uint8_t { kSaidNo = 1, kSaidYes = 2, kSaidUnknown = 4 };

std::uint8_t said(Written written) {
  return written == Written::No ? kSaidNo : written == Written::Yes ? kSaidYes : kSaidUnknown;
}

class Builder {
 public:
  Builder(const Recording& recording, const Tree& tree, const Keys& keys,
          const SchemaSource& schemas, Diagnostics& diagnostics)
      : recording_(recording),
        tree_(tree),
        keys_(keys),
        matcher_(recording, keys, schemas),
        diagnostics_(diagnostics),
        matches_(recording.operators.size()),
        slots_(keys.size()) {
    flow_.versions.assign(keys.size(), 0);
  }

  Flow build() {
    find_nodes();
    flow_.edges_begin.push_back(0);
    for (Position node : flow_.nodes) add_edges(node);
    return std::move(flow_);
  }

 private:
  const Event& event_at(Position at) const { return recording_.events[tree_.events[at].value]; }

  const Match& match_at(const Event& event) {
    const Match*& known = matches_[event.detail];
    if (!known) known = &matcher_.match(recording_.operators[event.detail], event.name);
    return *known;
  }

  bool is_node(const Event& event) {
    if (event.kind == EventKind::Allocation) return true;
    if (event.kind != EventKind::Operator) return false;
    return recording_.operators[event.detail].scope == RecordScope::BackwardFunction ||
           match_at(event).found;
  }

  void find_nodes() {
    for (Position at = 0; at < tree_.size();) {
      const bool is_one = is_node(event_at(at));
      if (is_one) flow_.nodes.push_back(at);
      at = is_one ? tree_.ends[at] : at + 1;
    }
    std::stable_sort(flow_.nodes.begin(), flow_.nodes.end(), [&](Position a, Position b) {
      return event_at(a).start_ns < event_at(b).start_ns;
    });
  }

  // The node's edge of that key, which names the key in keys_here_ when it is new.
  Edge& edge(KeyId key) {
    Slot& slot = slots_[key.value];
    if (slot.node != node_) {
      slot = {node_, 0, {key, flow_.versions[key.value], Change::None}};
      keys_here_.push_back(key);
    }
    return slot.edge;
  }

  void add_edges(Position node) {
    node_ = node;
    keys_here_.clear();
    const Position end = tree_.ends[node];
    for (Position at = node; at < end; ++at)
      if (event_at(at).kind == EventKind::Operator) use_inputs(event_at(at));
    for (KeyId key : keys_here_) {
      const Slot& slot = slots_[key.value];
      const bool written = (slot.said & kSaidYes) != 0 || slot.said == kSaidUnknown;
      slots_[key.value].edge.change = written ? Change::Written : Change::None;
    }
    for (Position at = node; at < end; ++at) see_free(at);
    for (Position at = node; at < end; ++at) see_birth(at);
    keep_edges();
  }

  void use_inputs(const Event& event) {
    const Operator& op = recording_.operators[event.detail];
    if (op.input_count == 0) return;
    const Match& match = match_at(event);
    for (std::uint32_t i = 0; i < op.input_count; ++i) {
      const Value& value = recording_.inputs[op.first_input + i];
      for (std::uint32_t t = value.first; t < value.first + value.count; ++t)
        if (const KeyId key = keys_.of_tensors[t]) {
          edge(key);
          slots_[key.value].said |= said(match.written[i]);
        }
    }
  }

  KeyId allocation_key(Position at, bool birth) const {
    const Event& event = event_at(at);
    if (event.kind != EventKind::Allocation) return {};
    const std::int64_t bytes = recording_.allocations[event.detail].bytes;
    return (birth ? bytes > 0 : bytes < 0) ? keys_.of_allocations[event.detail] : KeyId();
  }

  void see_free(Position at) {
    const KeyId key = allocation_key(at, false);
    if (!key) return;
    if (edge(key).is_deletion())
      diagnostics_.add("double-delete", Severity::Warning, place(at),
                       "an operator frees a storage twice");
    edge(key).change = Change::Deleted;
  }

  void see_birth(Position at) {
    if (const KeyId key = allocation_key(at, true)) edge(key).input_version = kNoVersion;
  }

  void keep_edges() {
    std::sort(keys_here_.begin(), keys_here_.end());
    for (KeyId key : keys_here_) {
      const Edge& edge = slots_[key.value].edge;
      flow_.edges.push_back(edge);
      std::int32_t& version = flow_.versions[key.value];
      if (edge.change == Change::Written && edge.is_input()) ++version;
      if (edge.is_output() && edge.output_version() != version)
        diagnostics_.add(
            "born-again", Severity::Warning, place(node_),
            "a storage is born that was there before: its version is " + std::to_string(version));
    }
    flow_.edges_begin.push_back(static_cast<std::uint32_t>(flow_.edges.size()));
  }

  std::string place(Position at) const {
    return "event " + std::to_string(at) + ", " + std::string(recording_.names[event_at(at).name]);
  }

  struct Slot {
    Position node = kNoPosition;  // whose edge this is
    std::uint8_t said = 0;
    Edge edge;
  };

  const Recording& recording_;
  const Tree& tree_;
  const Keys& keys_;
  Matcher matcher_;
  Diagnostics& diagnostics_;
  std::vector<const Match*> matches_;  // by operator
  std::vector<Slot> slots_;            // by key
  std::vector<KeyId> keys_here_;
  Position node_ = kNoPosition;
  Flow flow_;
};

// Every version has one node that makes it, and every node uses the newest there is.
void validate(const Flow& flow, Diagnostics& diagnostics) {
  std::vector<std::int32_t> newest(flow.versions.size(), kNoVersion);
  for (std::size_t node = 0; node < flow.nodes.size(); ++node) {
    const auto where = [&] { return "event " + std::to_string(flow.nodes[node]); };
    for (const Edge& edge : flow.edges_of(node))
      if (edge.is_input() && edge.input_version != std::max(newest[edge.key.value], 0))
        diagnostics.add("old-version", Severity::Warning, where(),
                        "an operator uses a version that is not the newest");
    for (const Edge& edge : flow.edges_of(node)) {
      if (!edge.is_output()) continue;
      std::int32_t& known = newest[edge.key.value];
      if (edge.output_version() <= known)
        diagnostics.add("made-twice", Severity::Warning, where(),
                        "a version is made a second time");
      known = edge.output_version();
    }
  }
}

}  // namespace

Flow find_flow(const Recording& recording, const Tree& tree, const Keys& keys,
               const SchemaSource& schemas, Diagnostics& diagnostics) {
  Flow flow = Builder(recording, tree, keys, schemas, diagnostics).build();
  validate(flow, diagnostics);
  return flow;
}

}  // namespace tidemark::dataflow
