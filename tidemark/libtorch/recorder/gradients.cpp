// Hooks on autograd's nodes, in C++: no Python, no cycles.
#include "tidemark/libtorch/recorder/gradients.h"

#include <c10/util/SmallVector.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "tidemark/libtorch/recorder/forks.h"

namespace tidemark::recorder {
namespace {

using torch::autograd::Node;
using torch::autograd::variable_list;
namespace impl = torch::autograd::impl;

bool will_run(Node* node) {
  const auto* wanted = torch::autograd::get_current_graph_task_exec_info();
  if (wanted && !wanted->empty()) {
    const auto found = wanted->find(node);
    return found != wanted->end() && found->second.should_execute();
  }
  const auto* all = torch::autograd::get_current_graph_task_nodes_in_graph();
  return all && all->count(node) > 0;
}

using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

// What hands over a gradient. The hooks on a node must not hold nodes, so the pointer is only
// looked up among those of a backward. A leaf gets a new node for every graph.
struct AwaitedNode {
  Node* node = nullptr;
  std::optional<WeakTensor> leaf;

  bool will_run() const {
    if (!leaf) return recorder::will_run(node);
    auto alive = leaf->lock();
    if (!alive) return false;
    const auto accumulator = impl::try_get_grad_accumulator(at::Tensor(std::move(alive)));
    return accumulator && recorder::will_run(accumulator.get());
  }
};

// The gradients that one action waits for; shared by the hooks of all its tensors.
class AwaitedGradients {
 public:
  AwaitedGradients(Await await, GradientAction action, std::size_t count, Graph of_inputs)
      : await_(await),
        action_(std::move(action)),
        nodes_(count),
        of_inputs_(std::move(of_inputs)) {}

  void set_node(std::size_t index, Node* node) { nodes_[index].node = node; }
  void set_leaf(std::size_t index, const at::Tensor& leaf) {
    nodes_[index].leaf = WeakTensor(leaf.getIntrusivePtr());
  }

  void arrived(std::size_t index, const at::Tensor& gradient) {
    if (forks_ != g_forks) return;  // of the parent; its lock may be taken
    const int backward = current_backward();
    const int awaited = is_known(backward) ? 0 : count_awaited();
    Progress oldest;
    std::vector<at::Tensor> gradients;
    {
      const std::lock_guard lock(lock_);
      Progress& progress = progress_of(backward, awaited, oldest);
      if (action_.wants_gradients) {
        progress.gradients.resize(nodes_.size());
        progress.gradients[index] = gradient;
      }
      if (++progress.seen != progress.awaited) return;
      gradients = std::move(progress.gradients);
      has_run_ = true;
    }
    action_(gradients);
  }

  bool has_run() const { return has_run_; }
  bool is_for(const std::weak_ptr<void>& owner) const {
    return !owner.owner_before(action_.owner) && !action_.owner.owner_before(owner);
  }

 private:
  struct Progress {
    int backward = -1, seen = 0, awaited = 1;
    std::vector<at::Tensor> gradients;
  };

  Progress* find_progress(int backward) {
    const auto known = std::find_if(progress_.begin(), progress_.end(),
                                    [&](const Progress& one) { return one.backward == backward; });
    return known == progress_.end() ? nullptr : &*known;
  }

  bool is_known(int backward) {
    const std::lock_guard lock(lock_);
    return find_progress(backward) != nullptr;
  }

  // Not under our lock: to look at a leaf may be to wait for Python's, and who has that may wait
  // for ours. The one whose gradient is here needs no looking up.
  int count_awaited() const {
    if (await_ == Await::First || nodes_.size() == 1) return 1;
    return static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(),
                                          [](const AwaitedNode& node) { return node.will_run(); }));
  }

  // Backwards nest (reentrant checkpoints), but only a few deep: the oldest then makes room.
  Progress& progress_of(int backward, int awaited, Progress& oldest) {
    if (Progress* const known = find_progress(backward)) return *known;
    if (progress_.size() >= 8) {
      oldest = std::move(progress_.front());
      progress_.erase(progress_.begin());
    }
    progress_.push_back({backward, 0, awaited, {}});
    return progress_.back();
  }

  const Await await_;
  const GradientAction action_;
  c10::SmallVector<AwaitedNode, 2> nodes_;
  const Graph of_inputs_;  // of the call that returned the tensors
  const int forks_ = g_forks;
  std::mutex lock_;
  c10::SmallVector<Progress, 1> progress_;
  std::atomic<bool> has_run_{false};
};

class GradientHook final : public torch::autograd::FunctionPreHook {
 public:
  GradientHook(std::shared_ptr<AwaitedGradients> awaited, std::size_t index, std::size_t output)
      : awaited_(std::move(awaited)), index_(index), output_(output) {}

  variable_list operator()(const variable_list& gradients) override {
    awaited_->arrived(index_, output_ < gradients.size() ? gradients[output_] : at::Tensor());
    return gradients;
  }
  // Compiled backwards leave it out instead of failing.
  void compiled_args(torch::dynamo::autograd::CompiledNodeArgs&) const override {}

 private:
  std::shared_ptr<AwaitedGradients> awaited_;
  std::size_t index_, output_;
};

struct HookedLeaf {
  WeakTensor leaf;
  std::shared_ptr<AwaitedGradients> awaited;
  RemoveHook remove;
  std::weak_ptr<void> graph;
};
// Those of all trackers.
struct HookedLeaves {
  ForkSafeMutex lock{LockPlace::Leaves};
  std::vector<HookedLeaf> all;
  HookLeaf hook;  // how Python wants it done
};
HookedLeaves g_leaves;

// For programs without Python.
RemoveHook hook_leaf_directly(const at::Tensor& leaf, std::function<void(const at::Tensor&)> hook) {
  const unsigned number =
      leaf.register_hook([hook = std::move(hook)](at::Tensor gradient) { hook(gradient); });
  const WeakTensor weak(leaf.getIntrusivePtr());
  return [weak, number] {
    if (auto alive = weak.lock()) at::Tensor(std::move(alive)).remove_hook(number);
  };
}

// Takes these hooks off their leaves. What belongs to Python goes with them, outside of our lock.
template <class IsOld>
void remove_hooks(const IsOld& is_old) {
  std::vector<HookedLeaf> old;
  {
    const std::lock_guard lock(g_leaves.lock);
    const auto first = std::partition(g_leaves.all.begin(), g_leaves.all.end(),
                                      [&](const HookedLeaf& one) { return !is_old(one); });
    old.assign(std::make_move_iterator(first), std::make_move_iterator(g_leaves.all.end()));
    g_leaves.all.erase(first, g_leaves.all.end());
  }
  for (const HookedLeaf& one : old) {
    if (one.leaf.expired()) continue;
    try {
      one.remove();
    } catch (...) {
      // It stays where it is: its owner does not listen any more, or it has run.
    }
  }
}

// Hooks that did their work are taken away when the next one comes.
void remove_old_hooks(const at::Tensor& leaf) {
  remove_hooks([&](const HookedLeaf& one) {
    const bool is_same = one.leaf._unsafe_get_target() == leaf.unsafeGetTensorImpl();
    return one.leaf.expired() || (is_same && one.awaited->has_run() && one.graph.expired());
  });
}

void hook_leaf(const at::Tensor& leaf, const std::shared_ptr<AwaitedGradients>& awaited,
               std::size_t index, Graph& graph) {
  if (!graph) graph = std::make_shared<char>();
  remove_old_hooks(leaf);
  awaited->set_leaf(index, leaf);
  const auto hook = [awaited, index](const at::Tensor& gradient) {
    awaited->arrived(index, gradient);
  };
  RemoveHook remove = g_leaves.hook ? g_leaves.hook(leaf, hook) : hook_leaf_directly(leaf, hook);
  const std::lock_guard lock(g_leaves.lock);
  g_leaves.all.push_back({WeakTensor(leaf.getIntrusivePtr()), awaited, std::move(remove), graph});
}

void hook(const at::Tensor& tensor, const std::shared_ptr<AwaitedGradients>& awaited,
          std::size_t index, Graph& graph) {
  if (tensor.is_leaf()) return hook_leaf(tensor, awaited, index, graph);
  const auto& node = tensor.grad_fn();
  awaited->set_node(index, node.get());
  node->add_tensor_pre_hook(std::make_unique<GradientHook>(awaited, index, tensor.output_nr()));
}

}  // namespace

Graph await_gradients(at::TensorList tensors, Await await, GradientAction action, Graph of_inputs) {
  Graph graph;
  const auto count = static_cast<std::size_t>(
      std::count_if(tensors.begin(), tensors.end(),
                    [](const at::Tensor& tensor) { return tensor.requires_grad(); }));
  if (count == 0) return graph;
  const auto awaited =
      std::make_shared<AwaitedGradients>(await, std::move(action), count, std::move(of_inputs));
  std::size_t index = 0;
  for (const at::Tensor& tensor : tensors)
    if (tensor.requires_grad()) hook(tensor, awaited, index++, graph);
  return graph;
}

void set_leaf_hooker(HookLeaf hook_leaf) { g_leaves.hook = std::move(hook_leaf); }

void forget_awaited_leaves(const std::weak_ptr<void>& owner) {
  remove_hooks([&](const HookedLeaf& one) { return one.awaited->is_for(owner); });
}

int current_backward() { return torch::autograd::get_current_graph_task_id(); }

void at_end_of_backward(std::function<void()> done, std::function<void()> abandoned) {
  // The engine drops its callbacks without running them when the backward fails.
  struct End {
    std::function<void()> abandoned;
    bool is_done = false;
    ~End() {
      if (is_done) return;
      try {
        abandoned();
      } catch (...) {
        // The backward's own error is on its way.
      }
    }
  };
  auto end = std::make_shared<End>();
  end->abandoned = std::move(abandoned);
  torch::autograd::Engine::get_default_engine().queue_callback(
      [end = std::move(end), done = std::move(done)] {
        end->is_done = true;
        done();
      });
}

}  // namespace tidemark::recorder
