// Properties of static graphs: profile, peak, schedule and order against a slow walk.
#include <algorithm>

#include "tests/property/properties.h"
#include "tests/property/random_graph.h"
#include "tests/property/slow_graph.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/graph/order.h"
#include "tidemark/engine/graph/profile.h"
#include "tidemark/engine/graph/schedule.h"

namespace tidemark::test {
namespace {

constexpr std::size_t kMostNodes = 24, kMostNodesOfLarge = 200;

// A random graph with an order and options of its own.
struct GraphSample {
  explicit GraphSample(const Sample& sample)
      : random(sample.choices()),
        graph(random_graph(random, is_large(sample.seed) ? kMostNodesOfLarge : kMostNodes)),
        options(random_options(random, graph)),
        accounts(graph, options),
        order(random_order(random, graph)) {}
  std::vector<std::int64_t> slow_levels() const {
    return slow_profile(graph, options, order).levels;
  }

  Random random;
  Graph graph;
  GraphOptions options;
  Accounts accounts;
  std::vector<NodeId> order;
};

void expect_levels(const std::vector<std::int64_t>& found, const std::vector<std::int64_t>& slow) {
  expect_equal(found.size(), slow.size(), "entries of the profile");
  for (std::size_t i = 0; i < slow.size(); ++i) expect_equal(found[i], slow[i], "entry ", i);
}

void a_profile_equals_a_slow_walk(const Sample& sample) {
  const GraphSample one(sample);
  expect_levels(build_profile(one.accounts, one.order), one.slow_levels());
}

void the_peak_of_a_graph_names_all_that_is_alive(const Sample& sample) {
  const GraphSample one(sample);
  const SlowProfile slow = slow_profile(one.graph, one.options, one.order);
  const GraphPeak peak = find_graph_peak(one.accounts, one.order);
  const auto highest = std::max_element(slow.levels.begin(), slow.levels.end());
  expect_equal(peak.bytes, *highest, "peak");
  const auto entry = highest - slow.levels.begin();
  expect_equal(peak.position, entry == 0 ? -1 : (entry - 1) / 2, "position");
  const auto& alive =
      entry == 0 ? slow.alive_before : slow.alive[static_cast<std::size_t>(peak.position)];
  expect_equal(peak.alive.size(), alive.size(), "storages alive");
  for (const AliveStorage& storage : peak.alive)
    expect(alive.count(storage.storage.value) == 1, "storage ", storage.storage.value);
}

void a_schedule_equals_the_profile_of_its_order(const Sample& sample) {
  GraphSample one(sample);
  const auto slow = one.slow_levels();
  Schedule schedule(one.accounts);
  std::int64_t peak = slow[0];
  for (std::size_t i = 0; i < one.order.size(); ++i) {
    // Choices that are taken back leave no trace.
    if (one.random.chance(0.3)) {
      const NodeId other = one.order[one.random.below(one.order.size())];
      if (!schedule.is_scheduled(other) && schedule.is_ready(other)) {
        const Level said = schedule.what_if(other);
        expect(schedule.schedule(other) == said, "what_if is not what happens");
        schedule.undo();
      }
    }
    peak = std::max(peak, slow[2 * i + 1]);
    const Level now = schedule.schedule(one.order[i]);
    expect_equal(now.bytes, slow[2 * i + 2], "level after node ", i);
    expect_equal(now.peak, peak, "peak after node ", i);
  }
  std::int64_t alive = 0;
  for (StorageId s : schedule.alive()) alive += one.accounts.bytes(s);
  expect_equal(alive, slow.back(), "bytes alive at the end");
}

void an_order_that_breaks_an_edge_is_refused(const Sample& sample) {
  GraphSample one(sample);
  if (one.order.size() < 2) return;
  std::vector<NodeId> shuffled = one.order;
  std::swap(one.random.pick(shuffled), one.random.pick(shuffled));
  bool is_valid = true;
  for (std::size_t i = 0; i < shuffled.size(); ++i)
    for (NodeId input : one.graph.inputs(shuffled[i]))
      is_valid = is_valid && std::count(shuffled.begin() + static_cast<std::ptrdiff_t>(i),
                                        shuffled.end(), input) == 0;
  bool is_refused = false;
  try {
    check_order(one.graph, shuffled);
  } catch (const Error&) {
    is_refused = true;
  }
  expect_equal(is_refused, !is_valid, "refused");
}

void move_randomly(Order& order, std::vector<NodeId>& nodes, Random& random, const Graph& graph) {
  const std::size_t from = random.below(nodes.size()), to = random.below(nodes.size());
  std::vector<NodeId> wanted = nodes;
  const std::uint64_t kind = random.below(3);
  if (kind == 0) {
    std::swap(wanted[from], wanted[to]);
  } else if (from != to) {
    wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(from));
    auto place = std::find(wanted.begin(), wanted.end(), nodes[to]);
    wanted.insert(kind == 1 ? place : place + 1, nodes[from]);
  }
  bool is_valid = true, is_done = true;
  try {
    check_order(graph, wanted);
  } catch (const Error&) {
    is_valid = false;
  }
  try {
    if (kind == 0) order.swap(nodes[from], nodes[to]);
    if (kind == 1) order.move_before(nodes[from], nodes[to]);
    if (kind == 2) order.move_after(nodes[from], nodes[to]);
  } catch (const Error&) {
    is_done = false;
  }
  expect_equal(is_done, is_valid, "move of kind ", kind, " from ", from, " to ", to);
  if (is_valid) nodes = wanted;
}

void an_order_under_moves_equals_a_new_profile(const Sample& sample) {
  GraphSample one(sample);
  if (one.order.empty()) return;
  Order order(one.accounts, one.order);
  for (int move = 0; move < 12; ++move) {
    const auto slow = build_profile(one.accounts, one.order);
    expect_equal(order.peak(), *std::max_element(slow.begin(), slow.end()), "peak, move ", move);
    for (std::size_t i = 0; i < one.order.size(); ++i) {
      expect_equal(order.level_at(one.order[i]), slow[2 * i + 1], "level at node ", i);
      expect_equal(order.level_after(one.order[i]), slow[2 * i + 2], "level after node ", i);
    }
    const NodeId highest = order.peak_node();
    expect(highest == find_graph_peak(one.accounts, one.order).node, "node of the peak");
    move_randomly(order, one.order, one.random, one.graph);
    expect(order.nodes() == one.order, "the nodes after move ", move);
  }
}

}  // namespace

std::vector<Property> graph_properties() {
  return {
      {"a profile equals a slow walk", a_profile_equals_a_slow_walk},
      {"the peak of a graph names all that is alive", the_peak_of_a_graph_names_all_that_is_alive},
      {"a schedule equals the profile of its order", a_schedule_equals_the_profile_of_its_order},
      {"an order that breaks an edge is refused", an_order_that_breaks_an_edge_is_refused},
      {"an order under moves equals a new profile", an_order_under_moves_equals_a_new_profile}};
}

}  // namespace tidemark::test
