// What each storage of a graph costs, and which never leave: a graph under the caller's choices.
#pragma once

#include <map>

#include "tidemark/engine/graph/graph.h"

namespace tidemark {

// The defaults count as PyTorch's estimator does; each choice makes the answer more like a run.
struct GraphOptions {
  std::int64_t granularity = 1;         // sizes are rounded up to it, as kCudaGranularity
  bool free_unused = false;             // results that nobody uses die at once, not at the end
  bool hold_collective_inputs = false;  // until the wait of the collective
  bool reuse_inputs = false;            // elementwise nodes write over an input that dies there
  std::vector<NodeId> donated;          // inputs that the graph may release
  // By node: whether storages it allocates may be released. Empty: all but inputs and constants.
  std::vector<std::uint8_t> releasable;
  std::vector<std::string> devices;                             // those that count; empty: all
  std::map<std::string, std::int64_t, std::less<>> dimensions;  // instead of the hints
};

// The graph must outlive it. Throws Error(BadArgument) for a dimension that has no value, is
// outside its range, or is not of this graph, for a node or device that is not, and for sizes that
// are negative or together past 63 bits.
class Accounts {
 public:
  explicit Accounts(const Graph& graph, GraphOptions options = {});

  const Graph& graph() const { return *graph_; }
  const GraphOptions& options() const { return options_; }
  // 0 where the device does not count.
  std::int64_t bytes(StorageId storage) const { return bytes_[storage.value]; }
  // The same before it is rounded up.
  std::int64_t requested_bytes(StorageId storage) const {
    return requested_.empty() ? bytes_[storage.value] : requested_[storage.value];
  }
  // Lives to the end: its allocator may not release it, or the graph returns it.
  bool is_kept(StorageId storage) const { return is_kept_[storage.value] != 0; }
  // There before the first node runs.
  bool is_base(StorageId storage) const { return is_base_[storage.value] != 0; }
  // What must be alive while the node runs, held inputs of a collective included.
  std::span<const StorageId> uses(NodeId node) const {
    return held_.size() ? held_[node.value] : graph_->uses(node);
  }
  std::int64_t base_bytes() const { return base_bytes_; }
  bool reuses(NodeId node) const {
    return options_.reuse_inputs && graph_->has(node, kMayReuseInput);
  }

 private:
  std::vector<std::int64_t> dimension_values() const;
  void check_options() const;
  void count_bytes();
  std::vector<NodeId> find_owners();
  void find_kept();
  void hold_inputs();

  const Graph* graph_;
  GraphOptions options_;
  std::vector<std::int64_t> bytes_, requested_;  // the second is empty where nothing is rounded
  std::vector<std::uint8_t> is_kept_, is_base_;
  Rows<StorageId> held_;
  std::int64_t base_bytes_ = 0;
};

}  // namespace tidemark
