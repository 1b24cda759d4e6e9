// One hook a leaf, in autograd's own place for such hooks, around the one that was there.
#include "tidemark/libtorch/recorder/followed_leaves.h"

#include <c10/util/SmallVector.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <typeinfo>

#include "tidemark/libtorch/recorder/forks.h"

namespace tidemark::recorder {
namespace {

using torch::autograd::PostAccumulateGradHook;
namespace impl = torch::autograd::impl;

bool is_same_owner(const std::weak_ptr<void>& one, const std::weak_ptr<void>& other) {
  return !one.owner_before(other) && !other.owner_before(one);
}

// It stays on its leaf when nobody listens any more: a backward of another thread may be in it.
class LeafHook final : public PostAccumulateGradHook {
 public:
  explicit LeafHook(PostAccumulateGradHook* others) : others_(others) {}
  void own(std::unique_ptr<PostAccumulateGradHook> others) { owned_ = std::move(others); }

  bool has_others() const { return others_ != nullptr; }
  bool is_of_parent() const { return forks_ != g_forks; }

  void add(const GradientListener& listener) {
    const std::lock_guard lock(lock_);
    remove_under_lock(listener.owner);
    listeners_.push_back(listener);
  }

  bool has(const std::weak_ptr<void>& owner) {
    const std::lock_guard lock(lock_);
    return std::any_of(listeners_.begin(), listeners_.end(), [&](const GradientListener& one) {
      return is_same_owner(one.owner, owner);
    });
  }

  void remove(const std::weak_ptr<void>& owner) {
    const std::lock_guard lock(lock_);
    remove_under_lock(owner);
  }

  void operator()(const at::Tensor& leaf) override {
    tell(leaf, false);
    if (!others_) return;
    (*others_)(leaf);
    tell(leaf, true);
  }

  // Compiled backwards have the others' hooks, and leave ours out instead of failing.
  void compiled_args(torch::dynamo::autograd::CompiledNodeArgs& args) const override {
    if (others_) others_->compiled_args(args);
  }
  void apply_with_saved(at::Tensor& leaf,
                        torch::dynamo::autograd::SwapSavedVariables& saved) override {
    if (others_) others_->apply_with_saved(leaf, saved);
  }

 private:
  void remove_under_lock(const std::weak_ptr<void>& owner) {
    const auto is_old = [&](const GradientListener& one) {
      return one.owner.expired() || is_same_owner(one.owner, owner);
    };
    listeners_.erase(std::remove_if(listeners_.begin(), listeners_.end(), is_old),
                     listeners_.end());
  }

  void tell(const at::Tensor& leaf, bool last) {
    if (is_of_parent()) return;  // its lock may be taken
    const at::Tensor& gradient = leaf.grad();
    if (!gradient.defined()) return;
    Listeners listeners;
    {
      const std::lock_guard lock(lock_);
      listeners = listeners_;
    }
    for (const GradientListener& one : listeners)
      if (one.comes_last == last)
        if (const auto alive = one.owner.lock()) one.tell(alive.get(), gradient, one.category);
  }

  using Listeners = c10::SmallVector<GradientListener, 1>;
  PostAccumulateGradHook* const others_;
  std::unique_ptr<PostAccumulateGradHook> owned_;
  const int forks_ = g_forks;
  std::mutex lock_;
  Listeners listeners_;
};

// Ours on this leaf; none if there is none, or only one that the parent of this process has put.
LeafHook* find_hook(const at::Tensor& leaf) {
  const auto& hook = impl::post_acc_grad_hooks(leaf);
  if (!hook) return nullptr;
  const PostAccumulateGradHook& found = *hook;
  if (typeid(found) != typeid(LeafHook)) return nullptr;
  auto* const ours = static_cast<LeafHook*>(hook.get());
  return ours->is_of_parent() ? nullptr : ours;
}

// At no moment is the place empty: a backward of another thread would miss the program's own hooks.
LeafHook& find_or_put_hook(const at::Tensor& leaf) {
  if (LeafHook* const known = find_hook(leaf)) return *known;
  auto& place = impl::post_acc_grad_hooks(leaf);
  auto ours = std::make_unique<LeafHook>(place.get());
  LeafHook& put = *ours;
  std::unique_ptr<PostAccumulateGradHook> others = std::move(ours);
  place.swap(others);
  put.own(std::move(others));
  return put;
}

}  // namespace

void FollowedLeaves::follow(const at::Tensor& leaf, const GradientListener& listener) {
  if (!leaf.requires_grad()) return;
  const std::lock_guard lock(lock_);
  LeafHook& hook = find_or_put_hook(leaf);
  GradientListener here = listener;
  here.comes_last &= hook.has_others();
  hook.add(here);
  listener_ = listener;
  leaves_.push_back({WeakTensor(leaf.getIntrusivePtr()), listener.category});
}

// Neither taken nor given back under our lock: both may wait for Python's, and who has that may
// wait for ours.
std::vector<FollowedLeaves::Leaf<at::Tensor>> FollowedLeaves::living() {
  std::vector<Leaf<WeakTensor>> leaves;
  {
    const std::lock_guard lock(lock_);
    std::erase_if(leaves_, [](const auto& one) { return one.tensor.expired(); });
    leaves = leaves_;
  }
  std::vector<Leaf<at::Tensor>> all;
  all.reserve(leaves.size());
  for (const auto& one : leaves)
    if (auto alive = one.tensor.lock()) all.push_back({at::Tensor(std::move(alive)), one.category});
  return all;
}

void FollowedLeaves::follow_again() {
  const auto leaves = living();
  const std::lock_guard lock(lock_);
  if (leaves_.empty()) return;  // they were forgotten meanwhile
  for (const auto& [leaf, category] : leaves) {
    if (!leaf.requires_grad()) continue;
    LeafHook* const known = find_hook(leaf);
    if (known && known->has(listener_.owner)) continue;
    GradientListener first = listener_;  // as it was before the program's own hooks
    first.comes_last = false;
    first.category = category;
    find_or_put_hook(leaf).add(first);
  }
}

void FollowedLeaves::forget() {
  const auto leaves = living();
  const std::lock_guard lock(lock_);
  for (const auto& [leaf, _] : leaves)
    if (LeafHook* const hook = leaf.requires_grad() ? find_hook(leaf) : nullptr)
      hook->remove(listener_.owner);
  leaves_.clear();
}

}  // namespace tidemark::recorder
