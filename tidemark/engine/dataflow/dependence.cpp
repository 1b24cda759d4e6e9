// Spreads dependence on gradients from node to node by a list of work, until nothing is new.
#include "tidemark/engine/dataflow/categories.h"

namespace tidemark::dataflow {
namespace {

class Spreading {
 public:
  Spreading(const Known& known, const Labels& labels)
      : known_(known),
        labels_(labels),
        dependent_(known.keys.tensor_count),
        done_(known.flow.nodes.size()) {
    index_users();
  }

  std::vector<bool> run() {
    for (std::uint32_t node = 0; node < known_.flow.nodes.size(); ++node)
      if (starts_at(node)) enter(node);
    while (!work_.empty()) {
      const std::uint32_t tensor = work_.back();
      work_.pop_back();
      for (std::uint32_t i = users_begin_[tensor]; i < users_begin_[tensor + 1]; ++i)
        enter(users_[i]);
    }
    return std::move(dependent_);
  }

 private:
  std::uint32_t tensor_of(const Edge& edge) const { return known_.keys.tensors[edge.key.value]; }

  // The nodes that each tensor goes into, one row of them after the other.
  void index_users() {
    users_begin_.assign(known_.keys.tensor_count + 1, 0);
    for (const Edge& edge : known_.flow.edges)
      if (edge.is_input()) ++users_begin_[tensor_of(edge) + 1];
    for (std::size_t t = 1; t < users_begin_.size(); ++t) users_begin_[t] += users_begin_[t - 1];
    users_.resize(users_begin_.back());
    std::vector<std::uint32_t> next(users_begin_.begin(), users_begin_.end() - 1);
    for (std::uint32_t node = 0; node < known_.flow.nodes.size(); ++node)
      for (const Edge& edge : known_.flow.edges_of(node))
        if (edge.is_input()) users_[next[tensor_of(edge)]++] = node;
  }

  bool is_trained(const Edge& edge) const {
    const Category label = labels_(edge.key, edge.input_version);
    return label == Category::Gradient || label == Category::Parameter;
  }

  bool starts_at(std::uint32_t node) {
    bool found = false;
    for (const Edge& edge : known_.flow.edges_of(node))
      if (edge.is_input() && is_trained(edge)) {
        add(tensor_of(edge));
        found = true;
      }
    return found;
  }

  void enter(std::uint32_t node) {
    if (done_[node]) return;
    done_[node] = true;
    for (const Edge& edge : known_.flow.edges_of(node))
      if (edge.is_output()) add(tensor_of(edge));
  }

  void add(std::uint32_t tensor) {
    if (dependent_[tensor]) return;
    dependent_[tensor] = true;
    work_.push_back(tensor);
  }

  const Known& known_;
  const Labels& labels_;
  std::vector<bool> dependent_;  // by tensor
  std::vector<bool> done_;       // by node
  std::vector<std::uint32_t> users_begin_, users_, work_;
};

}  // namespace

std::vector<bool> depend_on_gradients(const Known& known, const Labels& labels) {
  return Spreading(known, labels).run();
}

}  // namespace tidemark::dataflow
