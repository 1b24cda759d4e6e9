// Seven passes over the nodes; what spreads backwards through versions spreads by a list of work.
#include "tidemark/engine/dataflow/categories.h"

#include "tidemark/engine/dataflow/owned_tensors.h"

namespace tidemark::dataflow {
namespace {

bool trains(Category category) {
  return category == Category::Gradient || category == Category::Parameter;
}

class Passes {
 public:
  explicit Passes(const Known& known)
      : known_(known), flow_(known.flow), labels_(known.keys, VersionRows(known.flow.versions)) {}

  Labels run() {
    set_gradients_and_temporaries();
    set_told_parameters();
    set_inputs();
    set_used_parameters();
    set_activations();
    set_optimizer_states();
    set_autograd_details();
    return std::move(labels_);
  }

 private:
  std::uint32_t input_row(const Edge& edge) const {
    return labels_.rows().row(edge.key, edge.input_version);
  }
  std::uint32_t output_row(const Edge& edge) const {
    return labels_.rows().row(edge.key, edge.output_version());
  }
  Category input_label(const Edge& edge) const { return labels_(edge.key, edge.input_version); }
  Category output_label(const Edge& edge) const { return labels_(edge.key, edge.output_version()); }
  bool is_backward(std::size_t node) const { return known_.tree.below_backward[flow_.nodes[node]]; }
  std::vector<bool> no_versions() const { return std::vector<bool>(labels_.rows().count()); }

  void set_gradients_and_temporaries() {
    for (Position at = 0; at < known_.tree.size(); ++at)
      for_parameters_and_gradients(known_.recording, known_.tree, at,
                                   [&](TensorRow, TensorRow gradient) {
                                     if (const KeyId key = known_.keys.of(gradient))
                                       labels_.set_tensor(key, Category::Gradient);
                                   });
    for (const Edge& edge : flow_.edges)
      if (edge.is_intermediate()) labels_.set_key(edge.key, Category::Temporary);
  }

  void set_told_parameters() {
    for (Position at = 0; at < known_.tree.size(); ++at)
      for_parameters_and_gradients(known_.recording, known_.tree, at,
                                   [&](TensorRow parameter, TensorRow) {
                                     if (const KeyId key = known_.keys.of(parameter))
                                       labels_.set_tensor(key, Category::Parameter);
                                   });
  }

  // What leads to a gradient or a parameter, but depends on none.
  void set_inputs() {
    const std::vector<bool> dependent = depend_on_gradients(known_, labels_);
    std::vector<bool> candidates = lead_to_gradients();
    for (std::size_t node = 0; node < flow_.nodes.size(); ++node)
      if (is_backward(node))
        for (const Edge& edge : flow_.edges_of(node))
          if (edge.is_output()) candidates[output_row(edge)] = false;
    for (std::uint32_t k = 0; k < known_.keys.size(); ++k)
      if (!dependent[known_.keys.tensors[k]])
        for (std::int32_t v = 0; v < labels_.rows().versions(KeyId(k)); ++v)
          if (candidates[labels_.rows().row(KeyId(k), v)])
            labels_.set_version(KeyId(k), v, Category::Input);
  }

  std::vector<bool> lead_to_gradients() const {
    std::vector<bool> leading = no_versions();
    for (std::size_t node = flow_.nodes.size(); node-- > 0;) {
      bool leads = false;
      for (const Edge& edge : flow_.edges_of(node)) {
        leads |= edge.is_input() && (trains(input_label(edge)) || leading[input_row(edge)]);
        leads |= edge.is_output() && (trains(output_label(edge)) || leading[output_row(edge)]);
      }
      if (!leads) continue;
      for (const Edge& edge : flow_.edges_of(node)) {
        if (edge.is_input()) leading[input_row(edge)] = true;
        if (edge.is_output()) leading[output_row(edge)] = true;
      }
    }
    return leading;
  }

  // What goes into a forward node beside an input, is used for a gradient and depends on one.
  void set_used_parameters() {
    const std::vector<bool> in_use = versions_in_use(known_, labels_);
    const std::vector<bool> candidates = beside_inputs(in_use);
    const std::vector<bool> used = used_for_gradients();
    const std::vector<bool> dependent = depend_on_gradients(known_, labels_);
    std::vector<bool> parameters(known_.keys.tensor_count);
    const auto for_versions = [&](auto&& act) {
      for (std::uint32_t k = 0; k < known_.keys.size(); ++k)
        for (std::int32_t v = 0; v < labels_.rows().versions(KeyId(k)); ++v)
          act(KeyId(k), known_.keys.tensors[k], labels_.rows().row(KeyId(k), v));
    };
    for_versions([&](KeyId, std::uint32_t tensor, std::uint32_t row) {
      if (candidates[row] && used[row] && dependent[tensor]) parameters[tensor] = true;
    });
    for_versions([&](KeyId key, std::uint32_t tensor, std::uint32_t row) {
      if (in_use[row] && parameters[tensor]) labels_.set_tensor(key, Category::Parameter);
    });
  }

  std::vector<bool> beside_inputs(const std::vector<bool>& in_use) const {
    std::vector<bool> candidates = no_versions(), forward = no_versions();
    for (std::uint32_t k = 0; k < known_.keys.size(); ++k)
      for (std::int32_t v = 0; v < labels_.rows().versions(KeyId(k)); ++v) {
        const std::uint32_t row = labels_.rows().row(KeyId(k), v);
        forward[row] = in_use[row] && labels_(KeyId(k), v) == Category::Input;
      }
    for (std::size_t node = 0; node < flow_.nodes.size(); ++node) {
      if (is_backward(node) || touches_gradient(node)) continue;
      bool is_forward = false;
      for (const Edge& edge : flow_.edges_of(node))
        is_forward |= edge.is_input() && forward[input_row(edge)];
      if (!is_forward) continue;
      for (const Edge& edge : flow_.edges_of(node))
        if (edge.is_output()) forward[output_row(edge)] = true;
      for (const Edge& edge : flow_.edges_of(node))
        if (edge.is_input() && !forward[input_row(edge)]) candidates[input_row(edge)] = true;
    }
    return candidates;
  }

  bool touches_gradient(std::size_t node) const {
    for (const Edge& edge : flow_.edges_of(node))
      if ((edge.is_input() && input_label(edge) == Category::Gradient) ||
          (edge.is_output() && output_label(edge) == Category::Gradient))
        return true;
    return false;
  }

  std::vector<bool> used_for_gradients() const {
    std::vector<bool> used = no_versions();
    for (std::size_t node = flow_.nodes.size(); node-- > 0;) {
      bool leads = false;
      for (const Edge& edge : flow_.edges_of(node))
        leads |= edge.is_output() &&
                 (output_label(edge) == Category::Gradient || used[output_row(edge)]);
      if (!leads) continue;
      for (const Edge& edge : flow_.edges_of(node))
        if (edge.is_input()) used[input_row(edge)] = true;
    }
    return used;
  }

  // What is made from inputs and activations, with nothing besides but parameters and temporaries.
  void set_activations() {
    for (std::size_t node = 0; node < flow_.nodes.size(); ++node) {
      if (is_backward(node) || !makes_activations(node)) continue;
      for (const Edge& edge : flow_.edges_of(node))
        if (edge.is_output())
          labels_.set_version(edge.key, edge.output_version(), Category::Activation);
    }
  }

  bool makes_activations(std::size_t node) const {
    bool some = false;
    for (const Edge& edge : flow_.edges_of(node)) {
      if (!edge.is_input()) continue;
      const Category label = input_label(edge);
      if (label == Category::Input || label == Category::Activation) some = true;
      else if (label != Category::Parameter && label != Category::Temporary) return false;
    }
    return some;
  }

  void set_optimizer_states() {
    for (EventId event : known_.tree.events)
      for_states(known_.recording, known_.recording.events[event.value], [&](TensorRow state) {
        if (const KeyId key = known_.keys.of(state))
          labels_.set_tensor(key, Category::OptimizerState);
      });
  }

  void set_autograd_details() {
    for (std::size_t node = 0; node < flow_.nodes.size(); ++node) {
      if (!is_backward(node)) continue;
      for (const Edge& edge : flow_.edges_of(node)) {
        if (!edge.is_output()) continue;
        const Category before = edge.output_version() == 0 ? Category::Unknown : input_label(edge);
        if (before == Category::Unknown || before == Category::AutogradDetail)
          labels_.set_version(edge.key, edge.output_version(), Category::AutogradDetail);
      }
    }
  }

  Known known_;
  const Flow& flow_;
  Labels labels_;
};

}  // namespace

Labels find_labels(const Known& known) { return Passes(known).run(); }

std::vector<bool> versions_in_use(const Known& known, const Labels& labels) {
  const VersionRows& rows = labels.rows();
  std::vector<bool> in_use(rows.count());
  for (const Edge& edge : known.flow.edges) {
    if (edge.is_input()) in_use[rows.row(edge.key, edge.input_version)] = true;
    if (edge.is_intermediate()) in_use[rows.row(edge.key, 0)] = true;
    if (edge.is_output()) in_use[rows.row(edge.key, edge.output_version())] = true;
  }
  for (std::uint32_t k = 0; k < known.keys.size(); ++k)
    if (labels.named(KeyId(k))) in_use[rows.row(KeyId(k), 0)] = true;
  return in_use;
}

}  // namespace tidemark::dataflow
