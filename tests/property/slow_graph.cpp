// Everything is searched for again at every step; sizes, births and deaths once.
#include "tests/property/slow_graph.h"

#include <algorithm>

namespace tidemark::test {
namespace {

struct Slow {
  const Graph& graph;
  const GraphOptions& options;
  const std::vector<NodeId>& order;
  std::vector<std::int64_t> bytes = sizes();  // of each storage

  std::vector<std::int64_t> sizes() const {
    std::vector<std::int64_t> all;
    for (std::uint32_t s = 0; s < graph.storage_count(); ++s) all.push_back(size_of(s));
    return all;
  }
  std::int64_t size_of(std::uint32_t s) const {
    const GraphStorage& storage = graph.storage(StorageId(s));
    const auto& chosen = options.devices;
    if (!chosen.empty() &&
        std::count(chosen.begin(), chosen.end(), graph.devices()[storage.device.value]) == 0)
      return 0;
    std::int64_t size = storage.bytes;
    const auto batch = options.dimensions.find("batch");
    if (storage.size != UINT32_MAX && batch != options.dimensions.end())
      size = size / 8 * batch->second;  // all symbolic sizes are batch * k, and the hint is 8
    while (size % options.granularity) ++size;
    return size;
  }
  bool is_compute(NodeId n) const { return graph.kind(n) == NodeKind::Compute; }
  static bool in(std::span<const StorageId> row, std::uint32_t s) {
    return std::count(row.begin(), row.end(), StorageId(s)) > 0;
  }
  bool is_used_by(std::uint32_t s, NodeId n) const {
    if (in(graph.uses(n), s)) return true;
    const NodeId start = graph.waits_for(n);
    return options.hold_collective_inputs && start && in(graph.uses(start), s);
  }
  // An input or constant before all others: what they have is there from the start.
  NodeId allocator(std::uint32_t s) const {
    for (bool is_late : {false, true})
      for (std::uint32_t n = 0; n < graph.node_count(); ++n)
        if (is_late == is_compute(NodeId(n)) && in(graph.outputs(NodeId(n)), s)) return NodeId(n);
    return NodeId();
  }
  bool is_base(std::uint32_t s) const { return allocator(s) && !is_compute(allocator(s)); }
  bool is_kept(std::uint32_t s) const {
    for (std::uint32_t n = 0; n < graph.node_count(); ++n)
      if (graph.kind(NodeId(n)) == NodeKind::Output && in(graph.uses(NodeId(n)), s)) return true;
    if (!allocator(s)) return false;
    if (!options.releasable.empty()) return !options.releasable[allocator(s).value];
    return is_base(s) &&
           std::count(options.donated.begin(), options.donated.end(), allocator(s)) == 0;
  }
  std::int64_t birth(std::uint32_t s) const {
    if (is_base(s)) return -1;
    for (std::size_t at = 0; at < order.size(); ++at)
      if (in(graph.outputs(order[at]), s)) return static_cast<std::int64_t>(at);
    return INT64_MAX;
  }
  std::int64_t death(std::uint32_t s) const {
    if (is_kept(s)) return INT64_MAX;
    for (std::size_t at = order.size(); at-- > 0;)
      if (is_used_by(s, order[at])) return static_cast<std::int64_t>(at);
    return options.free_unused && !is_base(s) ? birth(s) : INT64_MAX;
  }
  std::int64_t reused(std::int64_t at, const std::vector<std::int64_t>& births,
                      const std::vector<std::int64_t>& deaths) const {
    const NodeId node = order[static_cast<std::size_t>(at)];
    if (!options.reuse_inputs || !graph.has(node, kMayReuseInput)) return 0;
    std::multiset<std::pair<std::int64_t, DeviceId>> dying;
    for (std::uint32_t s = 0; s < graph.storage_count(); ++s)
      if (deaths[s] == at && births[s] < at)
        dying.emplace(bytes[s], graph.storage(StorageId(s)).device);
    std::int64_t sum = 0;
    for (StorageId s : graph.outputs(node))
      if (births[s.value] == at) {
        const auto found = dying.find({bytes[s.value], graph.storage(s).device});
        if (found != dying.end()) sum += bytes[s.value], dying.erase(found);
      }
    return sum;
  }
};

}  // namespace

SlowProfile slow_profile(const Graph& graph, const GraphOptions& options,
                         const std::vector<NodeId>& order) {
  const Slow slow{graph, options, order};
  std::vector<std::int64_t> births, deaths;
  for (std::uint32_t s = 0; s < graph.storage_count(); ++s) {
    births.push_back(slow.birth(s));
    deaths.push_back(slow.death(s));
  }
  const auto alive = [&](std::int64_t at, bool is_after) {
    std::set<std::uint32_t> all;
    for (std::uint32_t s = 0; s < births.size(); ++s)
      if (births[s] <= at && (is_after ? deaths[s] > at : deaths[s] >= at) && slow.bytes[s] > 0)
        all.insert(s);
    return all;
  };
  const auto sum = [&](const std::set<std::uint32_t>& all) {
    std::int64_t bytes = 0;
    for (std::uint32_t s : all) bytes += slow.bytes[s];
    return bytes;
  };
  SlowProfile profile{.alive_before = alive(-1, true)};
  profile.levels.push_back(sum(profile.alive_before));
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(order.size()); ++at) {
    profile.alive.push_back(alive(at, false));
    profile.levels.push_back(sum(profile.alive.back()) - slow.reused(at, births, deaths));
    profile.levels.push_back(sum(alive(at, true)));
  }
  return profile;
}

}  // namespace tidemark::test
