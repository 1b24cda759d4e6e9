// Resolves the options once, so that walks over an order only add and subtract.
#include "tidemark/engine/graph/accounts.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/rounding.h"

namespace tidemark {
namespace {

// Without a value the sizes have none; outside of its range the graph was not captured for it.
std::int64_t checked(const Dimension& dimension, std::int64_t value) {
  if ((dimension.lower && value < *dimension.lower) ||
      (dimension.upper && value > *dimension.upper))
    throw Error(ErrorCode::BadArgument,
                "the graph does not hold for " + dimension.name + " = " + std::to_string(value));
  return value;
}

// No level is above the sum of all storages: checked once, no walk can overflow.
void check_total(std::int64_t bytes, std::int64_t& total) {
  if (bytes < 0 || bytes > INT64_MAX - total)
    throw Error(ErrorCode::BadArgument, bytes < 0
                                            ? "a storage of the graph has a negative size"
                                            : "the graph's storages are together past 63 bits");
  total += bytes;
}

}  // namespace

Accounts::Accounts(const Graph& graph, GraphOptions options)
    : graph_(&graph), options_(std::move(options)) {
  check_options();
  count_bytes();
  find_kept();
  if (options_.hold_collective_inputs) hold_inputs();
}

void Accounts::check_options() const {
  for (const auto& given : options_.dimensions)
    if (!graph_->dimensions().find(given.first))
      throw Error(ErrorCode::BadArgument, "the graph has no dimension " + given.first);
  for (const std::string& device : options_.devices)
    if (std::find(graph_->devices().begin(), graph_->devices().end(), device) ==
        graph_->devices().end())
      throw Error(ErrorCode::BadArgument, "the graph has nothing on device " + device);
  for (NodeId node : options_.donated)
    if (node.value >= graph_->node_count() || graph_->kind(node) != NodeKind::Input)
      throw Error(ErrorCode::BadArgument, "only inputs of the graph can be donated");
  if (!options_.releasable.empty() && options_.releasable.size() != graph_->node_count())
    throw Error(ErrorCode::BadArgument, "releasable needs a value for each node");
  if (options_.granularity < 1)
    throw Error(ErrorCode::BadArgument, "the granularity must be 1 or more");
}

std::vector<std::int64_t> Accounts::dimension_values() const {
  std::vector<std::int64_t> values;
  for (const Dimension& dimension : graph_->dimensions()) {
    const auto given = options_.dimensions.find(dimension.name);
    if (given != options_.dimensions.end()) values.push_back(checked(dimension, given->second));
    else if (dimension.hint) values.push_back(*dimension.hint);
    else
      throw Error(ErrorCode::BadArgument, "dimension " + dimension.name + " has no value", {},
                  "give one: " + dimension.name + "=8");
  }
  return values;
}

void Accounts::count_bytes() {
  std::vector<std::uint8_t> counts(graph_->devices().size(), options_.devices.empty());
  for (std::size_t d = 0; d < counts.size(); ++d)
    for (const std::string& name : options_.devices)
      if (graph_->devices()[d] == name) counts[d] = 1;
  const auto values = graph_->sizes().empty() ? std::vector<std::int64_t>() : dimension_values();
  bytes_.resize(graph_->storage_count());
  if (options_.granularity > 1) requested_.resize(bytes_.size());
  std::int64_t total = 0;
  for (std::uint32_t s = 0; s < bytes_.size(); ++s) {
    const GraphStorage& storage = graph_->storage(StorageId(s));
    if (!counts[storage.device.value]) continue;
    const std::int64_t exact = storage.size < graph_->sizes().size()
                                   ? evaluate(graph_->sizes()[storage.size], values)
                                   : storage.bytes;
    if (!requested_.empty()) requested_[s] = exact;
    bytes_[s] = exact > 0 ? rounded_up(exact, options_.granularity) : exact;
    check_total(bytes_[s], total);
  }
}

// By storage: the first input or constant that has it, else the first node.
std::vector<NodeId> Accounts::find_owners() {
  std::vector<NodeId> owners(graph_->storage_count());
  is_base_.assign(graph_->storage_count(), 0);
  for (std::uint32_t s = 0; s < owners.size(); ++s) owners[s] = graph_->allocator(StorageId(s));
  for (std::uint32_t n = 0; n < graph_->node_count(); ++n) {
    const NodeKind kind = graph_->kind(NodeId(n));
    if (kind != NodeKind::Input && kind != NodeKind::Constant) continue;
    for (StorageId s : graph_->outputs(NodeId(n)))
      if (!is_base_[s.value]) is_base_[s.value] = 1, owners[s.value] = NodeId(n);
  }
  return owners;
}

void Accounts::find_kept() {
  const std::vector<NodeId> owners = find_owners();
  is_kept_.assign(graph_->storage_count(), 0);
  std::vector<std::uint8_t> is_donated(graph_->node_count(), 0);
  for (NodeId node : options_.donated) is_donated[node.value] = 1;
  for (std::uint32_t s = 0; s < is_kept_.size(); ++s) {
    if (!owners[s]) continue;
    const bool may_go = options_.releasable.empty() ? !is_base_[s] || is_donated[owners[s].value]
                                                    : options_.releasable[owners[s].value] != 0;
    is_kept_[s] = !may_go;
    if (is_base_[s]) base_bytes_ += bytes_[s];
  }
  for (std::uint32_t n = 0; n < graph_->node_count(); ++n)
    if (graph_->kind(NodeId(n)) == NodeKind::Output)
      for (StorageId storage : graph_->uses(NodeId(n))) is_kept_[storage.value] = 1;
}

void Accounts::hold_inputs() {
  std::vector<NodeId> held_by(graph_->storage_count());  // the last node that noted it
  for (std::uint32_t n = 0; n < graph_->node_count(); ++n) {
    const auto hold = [&](std::span<const StorageId> storages) {
      for (StorageId storage : storages)
        if (held_by[storage.value] != NodeId(n)) {
          held_by[storage.value] = NodeId(n);
          held_.values.push_back(storage);
        }
    };
    hold(graph_->uses(NodeId(n)));
    if (const NodeId start = graph_->waits_for(NodeId(n))) hold(graph_->uses(start));
    held_.end_row();
  }
}

}  // namespace tidemark
