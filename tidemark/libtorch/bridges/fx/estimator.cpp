// Allocator and last user of the recorded order decide; Python is asked where it must be.
#include "tidemark/libtorch/bridges/fx/estimator.h"

#include <algorithm>

#include "tidemark/engine/graph/facts.h"
#include "tidemark/libtorch/bridges/fx/node_fields.h"

namespace tidemark::fx {
namespace {

bool is_fixed(NodeKind kind) { return kind != NodeKind::Compute; }

[[noreturn]] void raise_assertion(const char* message) {
  PyErr_SetString(PyExc_AssertionError, message);
  throw py::error_already_set();
}

std::int64_t base_bytes(const Graph& graph) {
  std::int64_t bytes = 0;
  for (std::uint32_t s = 0; s < graph.storage_count(); ++s) {
    const NodeKind kind = graph.kind(graph.allocator(StorageId(s)));
    if (kind == NodeKind::Input || kind == NodeKind::Constant)
      bytes += graph.storage(StorageId(s)).bytes;
  }
  return bytes;
}

}  // namespace

bool Releasable::operator()(const FxGraph& fx, NodeId allocator) const {
  const py::object& node = fx.nodes[allocator.value];
  if (!function_.is_none()) {
    const auto answer =
        py::reinterpret_steal<py::object>(PyObject_CallOneArg(function_.ptr(), node.ptr()));
    if (!answer) throw py::error_already_set();
    const int is_true = PyObject_IsTrue(answer.ptr());
    if (is_true < 0) throw py::error_already_set();
    return is_true != 0;
  }
  Py_ssize_t size = 0;
  const char* name = PyUnicode_AsUTF8AndSize(NodeFields::get().name.of(node.ptr()), &size);
  if (!name) throw py::error_already_set();
  return !std::string_view(name, static_cast<std::size_t>(size)).starts_with("primals");
}

std::vector<std::int64_t> profile_as_torch(const FxGraph& fx, const Releasable& releasable) {
  const Graph& graph = *fx.graph;
  const AliasFacts facts = find_alias_facts(graph);
  std::vector<std::int64_t> levels{base_bytes(graph)};
  levels.reserve(1 + 2 * graph.node_count());
  std::int64_t level = levels[0];
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const NodeId node(n);
    if (is_fixed(graph.kind(node))) continue;
    for (StorageId s : graph.outputs(node))
      if (graph.allocator(s) == node) level += graph.storage(s).bytes;
    levels.push_back(level);
    for (StorageId s : graph.uses(node))
      if (facts.last_user[s.value] == node && releasable(fx, graph.allocator(s)))
        level -= graph.storage(s).bytes;
    levels.push_back(level);
  }
  return levels;
}

TrackerAsTorch::TrackerAsTorch(std::shared_ptr<const FxGraph> fx, Releasable releasable)
    : fx_(std::move(fx)), releasable_(std::move(releasable)) {
  const Graph& graph = *fx_->graph;
  remaining_.assign(graph.storage_count(), 0);
  alive_since_.assign(graph.storage_count(), 0);
  may_go_.assign(graph.storage_count(), -1);
  is_scheduled_.assign(graph.node_count(), 0);
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const NodeId node(n);
    for (StorageId s : graph.uses(node)) ++remaining_[s.value];
    if (graph.kind(node) != NodeKind::Input && graph.kind(node) != NodeKind::Constant) continue;
    for (StorageId s : graph.outputs(node))
      if (graph.allocator(s) == node && counts(s)) bear(s);
  }
  peak_ = current_;
}

void TrackerAsTorch::bear(StorageId s) {
  alive_since_[s.value] = ++births_;
  current_ += fx_->graph->storage(s).bytes;
}

bool TrackerAsTorch::may_go(StorageId s) {
  if (may_go_[s.value] < 0) may_go_[s.value] = releasable_(*fx_, fx_->graph->allocator(s)) ? 1 : 0;
  return may_go_[s.value] != 0;
}

void TrackerAsTorch::schedule(py::handle object) {
  const Graph& graph = *fx_->graph;
  const NodeId node = fx_->at(object);
  if (is_scheduled_[node.value]) raise_assertion("should not schedule node twice");
  is_scheduled_[node.value] = 1;
  order_.push_back(node);
  for (StorageId s : graph.uses(node)) --remaining_[s.value];
  if (is_fixed(graph.kind(node))) return;
  for (StorageId s : graph.outputs(node))
    if (graph.allocator(s) == node && counts(s) && !alive_since_[s.value]) bear(s);
  peak_ = std::max(peak_, current_);
  release(node);
}

// Nothing is released before every use is known to be of something alive.
void TrackerAsTorch::release(NodeId node) {
  dying_.clear();
  for (StorageId s : fx_->graph->uses(node)) {
    if (!counts(s)) continue;
    if (!alive_since_[s.value]) raise_assertion("all input storages should be currently allocated");
    if (may_go(s) && remaining_[s.value] == 0) dying_.push_back(s);
  }
  for (StorageId s : dying_) {
    alive_since_[s.value] = 0;
    current_ -= fx_->graph->storage(s).bytes;
  }
}

std::vector<StorageId> TrackerAsTorch::alive() const {
  std::vector<StorageId> alive;
  for (std::uint32_t s = 0; s < alive_since_.size(); ++s)
    if (alive_since_[s]) alive.emplace_back(s);
  std::sort(alive.begin(), alive.end(), [&](StorageId a, StorageId b) {
    return alive_since_[a.value] < alive_since_[b.value];
  });
  return alive;
}

}  // namespace tidemark::fx
