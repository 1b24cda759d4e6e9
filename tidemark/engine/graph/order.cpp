// Slots say where nodes are, tournaments where storages begin and end, a tree how high it gets.
#include "tidemark/engine/graph/order.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/graph/level_tree.h"
#include "tidemark/engine/graph/profile.h"
#include "tidemark/engine/graph/tournaments.h"
#include "tidemark/engine/graph/walk.h"

namespace tidemark {

// Groups turned around: which nodes have a value, and the place of each node in that row.
struct Turned {
  Rows<NodeId> members;              // by value
  Rows<std::uint32_t> place_in_row;  // by node, beside its own row of values
};

namespace {

template <class RowOf>
Turned turn(const Graph& graph, std::size_t groups, RowOf row_of) {
  Turned turned;
  auto& begins = turned.members.begins;
  begins.assign(groups + 1, 0);
  const auto each = [&](auto visit) {
    for (std::uint32_t n = 0; n < graph.node_count(); ++n) visit(NodeId(n));
  };
  each([&](NodeId n) {
    if (graph.kind(n) == NodeKind::Compute)
      for (auto value : row_of(n)) ++begins[value.value + 1];
  });
  for (std::size_t g = 0; g < groups; ++g) begins[g + 1] += begins[g];
  turned.members.values.resize(begins.back());
  std::vector<std::uint32_t> filled(groups, 0);
  each([&](NodeId n) {
    if (graph.kind(n) == NodeKind::Compute)
      for (auto value : row_of(n)) {
        turned.place_in_row.values.push_back(filled[value.value]);
        turned.members.values[begins[value.value] + filled[value.value]++] = n;
      }
    turned.place_in_row.end_row();
  });
  return turned;
}

std::vector<NodeId> compute_nodes(const Graph& graph, std::span<const NodeId> order) {
  if (order.empty()) return recorded_order(graph);
  check_order(graph, order);
  std::vector<NodeId> nodes;
  for (NodeId node : order)
    if (graph.kind(node) == NodeKind::Compute) nodes.push_back(node);
  return nodes;
}

}  // namespace

struct Order::State {
  const Accounts* accounts;
  Slots slots;
  Turned producers, users, node_users;
  Tournaments births, deaths, first_users;
  std::vector<std::int64_t> born, dying;  // bytes by node
  LevelTree tree;
  std::vector<NodeId> touched;                         // to be written to the tree, each once
  std::vector<std::uint8_t> is_touched, is_collected;  // by node, by storage

  State(const Accounts& a, std::span<const NodeId> order)
      : accounts(&a),
        slots(a.graph().node_count(), compute_nodes(a.graph(), order)),
        producers(turn(a.graph(), a.graph().storage_count(),
                       [&](NodeId n) { return a.graph().outputs(n); })),
        users(turn(a.graph(), a.graph().storage_count(), [&](NodeId n) { return a.uses(n); })),
        node_users(
            turn(a.graph(), a.graph().node_count(), [&](NodeId n) { return a.graph().inputs(n); })),
        births(producers.members, slots, Wins::First),
        deaths(users.members, slots, Wins::Last),
        first_users(node_users.members, slots, Wins::First),
        born(a.graph().node_count(), 0),
        dying(a.graph().node_count(), 0),
        tree(slots.capacity()),
        is_touched(a.graph().node_count(), 0),
        is_collected(a.graph().storage_count(), 0) {
    for (std::uint32_t s = 0; s < a.graph().storage_count(); ++s) count(StorageId(s), 1);
    forget_touched();
    refill({0, static_cast<std::uint32_t>(slots.capacity())});
  }

  const Graph& graph() const { return accounts->graph(); }

  NodeId born_at(StorageId s) const {
    return accounts->is_base(s) ? NodeId() : births.winner(s.value);
  }
  NodeId dies_at(StorageId s) const {
    if (accounts->is_kept(s)) return NodeId();
    const NodeId last = deaths.winner(s.value);
    return last || !accounts->options().free_unused ? last : born_at(s);
  }

  // Adds a storage's birth and death to the nodes they happen at; -1 takes them away.
  void count(StorageId s, std::int64_t sign) {
    const std::int64_t bytes = accounts->bytes(s) * sign;
    if (const NodeId node = born_at(s)) born[node.value] += bytes, touch(node);
    if (const NodeId node = dies_at(s)) dying[node.value] += bytes, touch(node);
  }
  void count(const std::vector<StorageId>& storages, std::int64_t sign) {
    for (StorageId s : storages) count(s, sign);
  }

  // What the nodes return and use, each storage once: none may be counted twice.
  std::vector<StorageId> storages_of(std::initializer_list<NodeId> nodes) {
    std::vector<StorageId> storages;
    for (NodeId node : nodes)
      for (auto row : {graph().outputs(node), accounts->uses(node)})
        for (StorageId s : row)
          if (!is_collected[s.value]) is_collected[s.value] = 1, storages.push_back(s);
    for (StorageId s : storages) is_collected[s.value] = 0;
    return storages;
  }

  void touch(NodeId node) {
    if (!is_touched[node.value]) is_touched[node.value] = 1, touched.push_back(node);
  }
  void forget_touched() {
    for (NodeId node : touched) is_touched[node.value] = 0;
    touched.clear();
  }

  void replay(NodeId node) {
    const auto each = [&](const auto& row, const Turned& turned, Tournaments& groups) {
      for (std::size_t i = 0; i < row.size(); ++i)
        groups.replay(row[i].value, turned.place_in_row[node.value][i]);
    };
    each(graph().outputs(node), producers, births);
    each(accounts->uses(node), users, deaths);
    each(graph().inputs(node), node_users, first_users);
  }

  std::int64_t reused(NodeId node) const {
    if (!accounts->reuses(node)) return 0;
    std::vector<StorageId> results, inputs;
    for (StorageId s : graph().outputs(node))
      if (born_at(s) == node) results.push_back(s);
    for (StorageId s : accounts->uses(node))
      if (dies_at(s) == node) inputs.push_back(s);
    return reused_bytes(*accounts, results, inputs);
  }
  LevelChange change_of(NodeId node) const {
    const std::int64_t plus = born[node.value];
    return {plus - dying[node.value], plus - reused(node)};
  }
  void refill(Slots::Range range) {
    for (std::uint32_t slot = range.begin; slot < range.end; ++slot)
      tree.put(slot, slots.at(slot) ? change_of(slots.at(slot)) : LevelChange());
    tree.rebuild(range.begin, range.end);
  }
  void refresh_touched() {
    for (NodeId node : touched) tree.set(slots[node], change_of(node));
    forget_touched();
  }

  void swap(NodeId a, NodeId b) {
    const std::vector<StorageId> storages = storages_of({a, b});
    count(storages, -1);
    slots.swap(a, b);
    replay(a);
    replay(b);
    count(storages, 1);
    touch(a), touch(b);
    refresh_touched();
  }

  void move(NodeId node, NodeId previous) {
    const std::vector<StorageId> storages = storages_of({node});
    count(storages, -1);
    tree.set(slots[node], LevelChange());
    slots.remove(node);
    const Slots::Range changed = slots.insert_after(previous, node);
    replay(node);
    count(storages, 1);
    refill(changed);
    refresh_touched();
  }

  std::int64_t level_before(std::uint32_t slot) const {
    return accounts->base_bytes() + tree.sum_before(slot);
  }
  void check(NodeId node) const {
    if (!slots.contains(node))
      throw Error(ErrorCode::BadArgument, "the node is not a compute node of this order");
  }
  NodeId last_input(NodeId node) const {
    NodeId last;
    for (NodeId input : graph().inputs(node))
      if (slots.contains(input) && (!last || slots[last] < slots[input])) last = input;
    return last;
  }
  // Whether the node may stand anywhere from its own slot to `slot`, that one included.
  bool may_reach(NodeId node, std::uint32_t slot) const {
    if (slot > slots[node]) {
      const NodeId user = first_users.winner(node.value);
      return !user || slots[user] > slot;
    }
    const NodeId input = last_input(node);
    return !input || slots[input] < slot;
  }
};

Order::Order(const Accounts& accounts, std::span<const NodeId> order)
    : state_(std::make_unique<State>(accounts, order)) {}
Order::~Order() = default;
Order::Order(Order&&) noexcept = default;
Order& Order::operator=(Order&&) noexcept = default;

std::int64_t Order::peak() const {
  const std::int64_t base = state_->accounts->base_bytes();
  return std::max(base, base + state_->tree.whole().high);
}

NodeId Order::peak_node() const {
  if (state_->tree.whole().high <= 0) return NodeId();
  return state_->slots.at(static_cast<std::uint32_t>(state_->tree.highest()));
}

std::int64_t Order::level_at(NodeId node) const {
  state_->check(node);
  const std::uint32_t slot = state_->slots[node];
  return state_->level_before(slot) + state_->tree.at(slot).high;
}

std::int64_t Order::level_after(NodeId node) const {
  state_->check(node);
  const std::uint32_t slot = state_->slots[node];
  return state_->level_before(slot) + state_->tree.at(slot).sum;
}

bool Order::can_swap(NodeId a, NodeId b) const {
  state_->check(a), state_->check(b);
  const Slots& slots = state_->slots;
  return a == b || (state_->may_reach(a, slots[b]) && state_->may_reach(b, slots[a]));
}

bool Order::can_move_before(NodeId node, NodeId place) const {
  state_->check(node), state_->check(place);
  if (node == place || previous(place) == node) return true;
  const NodeId before = previous(place);
  // Going later, it stands right after the one before `place`.
  if (is_before(node, place)) return !before || state_->may_reach(node, state_->slots[before]);
  return state_->may_reach(node, state_->slots[place]);
}

bool Order::can_move_after(NodeId node, NodeId place) const {
  state_->check(node), state_->check(place);
  if (node == place || previous(node) == place) return true;
  if (is_before(node, place)) return state_->may_reach(node, state_->slots[place]);
  return state_->may_reach(node, state_->slots[next(place)]);
}

void Order::swap(NodeId a, NodeId b) {
  if (!can_swap(a, b))
    throw Error(ErrorCode::BadArgument, state_->graph().name(a) + " and " +
                                            state_->graph().name(b) +
                                            " cannot change places: one needs what lies between");
  if (a != b) state_->swap(a, b);
}

void Order::move_before(NodeId node, NodeId place) {
  if (!can_move_before(node, place))
    throw Error(ErrorCode::BadArgument,
                state_->graph().name(node) + " cannot stand before " + state_->graph().name(place));
  if (node == place || next(node) == place) return;
  state_->move(node, previous(place));
}

void Order::move_after(NodeId node, NodeId place) {
  if (!can_move_after(node, place))
    throw Error(ErrorCode::BadArgument,
                state_->graph().name(node) + " cannot stand after " + state_->graph().name(place));
  if (node == place || previous(node) == place) return;
  state_->move(node, place);
}

bool Order::is_before(NodeId a, NodeId b) const {
  state_->check(a), state_->check(b);
  return state_->slots[a] < state_->slots[b];
}

NodeId Order::next(NodeId node) const {
  state_->check(node);
  return state_->slots.next(node);
}

NodeId Order::previous(NodeId node) const {
  state_->check(node);
  return state_->slots.previous(node);
}

NodeId Order::last_input(NodeId node) const {
  state_->check(node);
  return state_->last_input(node);
}

NodeId Order::first_user(NodeId node) const {
  state_->check(node);
  return state_->first_users.winner(node.value);
}

std::vector<NodeId> Order::nodes() const {
  std::vector<NodeId> nodes;
  for (NodeId node = state_->slots.first(); node; node = state_->slots.next(node))
    nodes.push_back(node);
  return nodes;
}

}  // namespace tidemark
