// The two walks of PyTorch's estimator, with its answers: a profile, and a schedule node by node.
//
// They differ from the engine's own in what PyTorch defines: a storage is born at the node that
// was first to return it in the recorded order, whatever order nodes are scheduled in, and an
// order is refused when a storage is used that is not alive.
#pragma once

#include <vector>

#include "tidemark/libtorch/bridges/fx/fx_graph.h"

namespace tidemark::fx {

// Whether storages of an allocator may be released: a function of Python's, asked once per
// storage, or (None) PyTorch's default: all but nodes whose names begin with "primals".
class Releasable {
 public:
  explicit Releasable(py::object function) : function_(std::move(function)) {}
  bool operator()(const FxGraph& fx, NodeId allocator) const;

 private:
  py::object function_;
};

// 1 + 2k numbers: before the first, then after births and after deaths of each compute node.
std::vector<std::int64_t> profile_as_torch(const FxGraph& fx, const Releasable& releasable);

class TrackerAsTorch {
 public:
  TrackerAsTorch(std::shared_ptr<const FxGraph> fx, Releasable releasable);

  void schedule(py::handle node);
  std::int64_t current_bytes() const { return current_; }
  std::int64_t peak_bytes() const { return peak_; }
  const std::vector<NodeId>& order() const { return order_; }
  // In the order in which they came to life.
  std::vector<StorageId> alive() const;

 private:
  void bear(StorageId s);
  void release(NodeId node);
  bool counts(StorageId s) const { return fx_->counts[s.value] != 0; }
  bool may_go(StorageId s);

  std::shared_ptr<const FxGraph> fx_;
  Releasable releasable_;
  std::vector<std::uint32_t> remaining_;    // by storage: users to come
  std::vector<std::uint32_t> alive_since_;  // by storage: a number that grows; 0 for not alive
  std::vector<std::int8_t> may_go_;         // by storage: -1 for not asked yet
  std::vector<std::uint8_t> is_scheduled_;
  std::vector<NodeId> order_;
  std::vector<StorageId> dying_;
  std::uint32_t births_ = 0;
  std::int64_t current_ = 0, peak_ = 0;
};

}  // namespace tidemark::fx
