// Writes births and deaths node by node, with scopes opened and closed as the module changes.
#include "tidemark/engine/graph/graph_tape.h"

#include <algorithm>

#include "tidemark/engine/graph/profile.h"
#include "tidemark/engine/graph/walk.h"
#include "tidemark/engine/tape/builder.h"

namespace tidemark {
namespace {

class Writer {
 public:
  Writer(const Accounts& accounts, std::span<const NodeId> order)
      : accounts_(accounts),
        graph_(accounts.graph()),
        walk_(walk(accounts, order)),
        on_tape_(graph_.storage_count()) {}

  Tape write() {
    for (std::uint32_t n = 0; n < graph_.node_count(); ++n)
      if (graph_.kind(NodeId(n)) == NodeKind::Input || graph_.kind(NodeId(n)) == NodeKind::Constant)
        bear(NodeId(n), [&](StorageId s) { return walk_.born[s.value] == Walk::kBefore; });
    builder_.begin_step();
    for (std::uint32_t at = 0; at < walk_.nodes.size(); ++at) run(at);
    enter({});
    for (const Diagnostic& d : graph_.diagnostics().all())
      builder_.diagnose(d.code, d.severity, d.where, d.message, d.count);
    return builder_.finish();
  }

 private:
  void run(std::uint32_t at) {
    const NodeId node = walk_.nodes[at];
    const NodeText& text = graph_.text(node);
    if (text.phase != builder_.phase()) builder_.set_phase(text.phase);
    enter(chain_of(text.scope));
    const Place place = place_of(node);
    builder_.begin_call(place.call, place);
    bear(node, [&](StorageId s) { return walk_.born[s.value] == at; });
    builder_.end_call(place.call, place);
    for (auto row : {graph_.outputs(node), accounts_.uses(node)})
      for (StorageId s : row)
        if (walk_.dies[s.value] == at && on_tape_[s.value]) {
          builder_.free(on_tape_[s.value], place);
          on_tape_[s.value] = StorageId();
        }
  }

  template <class IsBorn>
  void bear(NodeId node, IsBorn is_born) {
    for (StorageId s : graph_.outputs(node)) {
      const GraphStorage& storage = graph_.storage(s);
      if (on_tape_[s.value] || !is_born(s) || !counts(s)) continue;
      const DeviceId device = builder_.tables().device(graph_.devices()[storage.device.value]);
      on_tape_[s.value] =
          builder_.alloc(device, accounts_.requested_bytes(s), storage.category, place_of(node));
    }
  }

  bool counts(StorageId s) const {
    const auto& chosen = accounts_.options().devices;
    const std::string& device = graph_.devices()[graph_.storage(s).device.value];
    return chosen.empty() || std::find(chosen.begin(), chosen.end(), device) != chosen.end();
  }

  Place place_of(NodeId node) {
    const NodeText& text = graph_.text(node);
    Place place;
    place.call = builder_.tables().call(text.op.empty() ? graph_.name(node) : text.op, text.name);
    if (!text.file.empty()) place.stack = builder_.tables().stack(StackId(), text.file, text.line);
    return place;
  }

  // The module and all that it is in, outermost first.
  std::vector<ScopeId> chain_of(const std::string& path) {
    std::vector<ScopeId> chain;
    if (path.empty()) return chain;
    for (ScopeId scope = builder_.tables().scope(path); scope;
         scope = builder_.tables().scopes()[scope.value].parent)
      chain.insert(chain.begin(), scope);
    return chain;
  }

  void enter(const std::vector<ScopeId>& chain) {
    std::size_t same = 0;
    while (same < std::min(chain.size(), open_.size()) && chain[same] == open_[same]) ++same;
    for (; open_.size() > same; open_.pop_back()) builder_.end_scope(open_.back());
    for (; open_.size() < chain.size(); open_.push_back(chain[open_.size()]))
      builder_.begin_scope(chain[open_.size()]);
  }

  const Accounts& accounts_;
  const Graph& graph_;
  Walk walk_;
  TapeBuilder builder_;
  std::vector<StorageId> on_tape_;  // by storage of the graph; none: not alive
  std::vector<ScopeId> open_;
};

}  // namespace

Tape tape_of_graph(const Accounts& accounts, std::span<const NodeId> order) {
  if (!order.empty()) check_order(accounts.graph(), order);
  return Writer(accounts, order).write();
}

}  // namespace tidemark
