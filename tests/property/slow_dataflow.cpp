// The seven passes and the five steps with std::set and std::map, and loops until nothing grows.
#include "tests/property/slow_dataflow.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "tidemark/engine/dataflow/owned_tensors.h"

namespace tidemark::test {
namespace {

using namespace dataflow;
using Versions = std::set<Version>;

struct Node {
  Versions inputs, outputs;
  std::set<std::uint32_t> intermediates;
  bool backward = false;
};

bool meets(const Versions& a, const Versions& b) {
  return std::any_of(a.begin(), a.end(), [&](const Version& v) { return b.count(v) > 0; });
}

class SlowPasses {
 public:
  explicit SlowPasses(const Known& known) : known_(known) {
    for (std::size_t n = 0; n < known.flow.nodes.size(); ++n) {
      Node node;
      node.backward = known.tree.below_backward[known.flow.nodes[n]];
      for (const Edge& e : known.flow.edges_of(n)) {
        const bool allocates = e.input_version == kNoVersion;
        const bool deletes = e.change == Change::Deleted;
        if (!allocates) node.inputs.emplace(e.key.value, e.input_version);
        if (allocates && deletes) node.intermediates.insert(e.key.value);
        if (e.change == Change::Written || (allocates && !deletes))
          node.outputs.emplace(e.key.value, allocates ? 0 : e.input_version + 1);
      }
      nodes_.push_back(std::move(node));
    }
  }

  std::map<Version, Category> run() {
    for_owned([&](KeyId, KeyId gradient) { set_tensor(gradient, Category::Gradient); });
    for (const Node& node : nodes_)
      for (std::uint32_t key : node.intermediates) by_key_[key] = Category::Temporary;
    for_owned([&](KeyId parameter, KeyId) { set_tensor(parameter, Category::Parameter); });
    set_inputs();
    set_used_parameters();
    for (const Node& node : nodes_)
      if (!node.backward && makes_activations(node))
        for (const Version& v : node.outputs) by_version_.try_emplace(v, Category::Activation);
    for (EventId event : known_.tree.events)
      for_states(known_.recording, known_.recording.events[event.value],
                 [&](TensorRow t) { set_tensor(known_.keys.of(t), Category::OptimizerState); });
    set_autograd_details();
    std::map<Version, Category> all;
    for (std::uint32_t k = 0; k < known_.keys.size(); ++k)
      for (std::int32_t v = 0; v <= known_.flow.versions[k]; ++v) all[{k, v}] = label({k, v});
    return all;
  }

 private:
  std::uint64_t tensor(const Version& v) const { return known_.keys.all[v.first].tensor_id; }

  void for_owned(const std::function<void(KeyId, KeyId)>& see) {
    for (Position at = 0; at < known_.tree.size(); ++at)
      for_parameters_and_gradients(known_.recording, known_.tree, at,
                                   [&](TensorRow parameter, TensorRow gradient) {
                                     see(known_.keys.of(parameter), known_.keys.of(gradient));
                                   });
  }

  void set_tensor(KeyId key, Category category) {
    if (!key) return;
    by_tensor_[known_.keys.all[key.value].tensor_id] = category;
    named_.insert(key.value);
  }

  Category label(const Version& v) const {
    if (const auto t = by_tensor_.find(tensor(v)); t != by_tensor_.end()) return t->second;
    if (const auto k = by_key_.find(v.first); k != by_key_.end()) return k->second;
    const auto one = by_version_.find(v);
    return one == by_version_.end() ? Category::Unknown : one->second;
  }
  bool is(const Version& v, Category category) const { return label(v) == category; }
  bool trains(const Version& v) const {
    return is(v, Category::Gradient) || is(v, Category::Parameter);
  }

  std::set<std::uint64_t> dependent() const {
    std::set<std::uint64_t> found;
    for (std::size_t before = 1; before != found.size() || before == 1;) {
      before = found.size();
      for (const Node& node : nodes_) {
        std::set<std::uint64_t> here;
        for (const Version& v : node.inputs)
          if (trains(v) || found.count(tensor(v))) here.insert(tensor(v));
        if (here.empty()) continue;
        found.insert(here.begin(), here.end());
        for (const Version& v : node.outputs) found.insert(tensor(v));
      }
      if (found.size() == before) break;
    }
    return found;
  }

  void set_inputs() {
    const auto depends = dependent();
    Versions leading;
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      Versions all = node->inputs;
      all.insert(node->outputs.begin(), node->outputs.end());
      if (meets(all, leading) ||
          std::any_of(all.begin(), all.end(), [&](const Version& v) { return trains(v); }))
        leading.insert(all.begin(), all.end());
    }
    for (const Node& node : nodes_)
      if (node.backward)
        for (const Version& v : node.outputs) leading.erase(v);
    for (const Version& v : leading)
      if (!depends.count(tensor(v))) by_version_.try_emplace(v, Category::Input);
  }

  Versions snapshot() const {
    Versions all;
    for (const Node& node : nodes_) {
      all.insert(node.inputs.begin(), node.inputs.end());
      all.insert(node.outputs.begin(), node.outputs.end());
      for (std::uint32_t key : node.intermediates) all.emplace(key, 0);
    }
    for (std::uint32_t key : named_) all.emplace(key, 0);
    return all;
  }

  void set_used_parameters() {
    const Versions all = snapshot();
    Versions forward, candidates, used;
    for (const Version& v : all)
      if (is(v, Category::Input)) forward.insert(v);
    const auto is_gradient = [&](const Version& v) { return is(v, Category::Gradient); };
    for (const Node& node : nodes_) {
      if (node.backward || std::any_of(node.inputs.begin(), node.inputs.end(), is_gradient) ||
          std::any_of(node.outputs.begin(), node.outputs.end(), is_gradient) ||
          !meets(node.inputs, forward))
        continue;
      forward.insert(node.outputs.begin(), node.outputs.end());
      for (const Version& v : node.inputs)
        if (!forward.count(v)) candidates.insert(v);
    }
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node)
      if (meets(node->outputs, used) ||
          std::any_of(node->outputs.begin(), node->outputs.end(), is_gradient))
        used.insert(node->inputs.begin(), node->inputs.end());
    const auto depends = dependent();
    std::set<std::uint64_t> parameters;
    for (const Version& v : candidates)
      if (used.count(v) && depends.count(tensor(v))) parameters.insert(tensor(v));
    for (const Version& v : all)
      if (parameters.count(tensor(v))) set_tensor(KeyId(v.first), Category::Parameter);
  }

  bool makes_activations(const Node& node) const {
    std::set<Category> kinds;
    for (const Version& v : node.inputs) kinds.insert(label(v));
    const bool wanted = kinds.count(Category::Input) || kinds.count(Category::Activation);
    for (Category fine :
         {Category::Input, Category::Activation, Category::Parameter, Category::Temporary})
      kinds.erase(fine);
    return wanted && kinds.empty();
  }

  void set_autograd_details() {
    for (const Node& node : nodes_) {
      if (!node.backward) continue;
      for (const Version& v : node.outputs) {
        const Category before = v.second == 0 ? Category::Unknown : label({v.first, v.second - 1});
        if (before == Category::Unknown || before == Category::AutogradDetail)
          by_version_.try_emplace(v, Category::AutogradDetail);
      }
    }
  }

  Known known_;
  std::vector<Node> nodes_;
  std::map<std::uint64_t, Category> by_tensor_;
  std::map<std::uint32_t, Category> by_key_;
  std::map<Version, Category> by_version_;
  std::set<std::uint32_t> named_;
};

// One thing that was seen, in the order of time.
struct Sight {
  std::uint64_t tensor, pointer;
  DeviceId device;
  std::int64_t bytes;  // of an allocation
  std::size_t row;     // of tensors, then of allocations
};

std::vector<Sight> all_sights(const Recording& recording, const Tree& tree) {
  std::vector<Sight> sights;
  const auto see = [&](TensorRow row) {
    if (!row) return;
    const TensorFacts& t = recording.tensors[row.value];
    if (t.tensor && t.storage) sights.push_back({t.tensor, t.storage, t.device, 0, row.value});
  };
  for (Position at : tree.by_time) {
    const dataflow::Event& event = recording.events[tree.events[at].value];
    if (event.kind == EventKind::Operator) {
      const Operator& op = recording.operators[event.detail];
      for (std::uint32_t i = 0; i < op.input_count; ++i)
        for (std::uint32_t t = 0; t < recording.inputs[op.first_input + i].count; ++t)
          see(TensorRow(recording.inputs[op.first_input + i].first + t));
    } else if (event.kind == EventKind::Allocation) {
      const Allocation& a = recording.allocations[event.detail];
      sights.push_back({0, a.pointer, a.device, a.bytes, recording.tensors.size() + event.detail});
    } else if (event.kind == EventKind::PythonCall && event.detail != kNoRow) {
      for_parameters_and_gradients(recording, tree, at, [&](TensorRow p, TensorRow g) {
        see(p);
        see(g);
      });
      for_states(recording, event, see);
    }
  }
  return sights;
}

}  // namespace

std::map<Version, Category> slow_labels(const Known& known) { return SlowPasses(known).run(); }

std::vector<Ids> slow_ids(const Recording& recording, const Tree& tree) {
  std::vector<Ids> ids(recording.tensors.size() + recording.allocations.size());
  std::map<std::pair<std::uint64_t, DeviceId>, std::uint64_t> at_address;
  std::map<std::uint64_t, std::uint64_t> first;
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  std::uint64_t next = 1;
  for (const Sight& sight : all_sights(recording, tree)) {
    const std::pair address(sight.pointer, sight.device);
    if (sight.bytes > 0) at_address.erase(address);
    if (!at_address.count(address)) at_address[address] = next++;
    const std::uint64_t storage = ids[sight.row].allocation = at_address[address];
    if (sight.bytes < 0) at_address.erase(address);
    if (!sight.tensor) continue;
    const std::uint64_t one = first.try_emplace(sight.tensor, storage).first->second;
    pairs.emplace(std::min(one, storage), std::max(one, storage));
  }
  std::map<std::uint64_t, std::uint64_t> groups;
  std::uint64_t count = 0;
  for (const auto& [smaller, larger] : pairs) {
    if (!groups.count(smaller)) groups[smaller] = count++;
    groups.try_emplace(larger, groups[smaller]);
  }
  for (Ids& one : ids)
    if (const auto group = groups.find(one.allocation); group != groups.end())
      one.tensor = group->second;
  return ids;
}

}  // namespace tidemark::test
