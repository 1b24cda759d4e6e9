// Tells when gradients of tensors arrive in a backward, and when that backward is over.
//
// Nothing is kept alive: neither the tensors, nor the graph, nor (unless asked for) gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tidemark::recorder {

enum class Await { First, All };

// What to do then. It is made twice a module call, so it is plain data: a function, and what to
// call it with if the owner is still alive.
struct GradientAction {
  void (*run)(void* owner, std::uint32_t number, const std::vector<at::Tensor>& gradients);
  std::weak_ptr<void> owner;
  std::uint32_t number = 0;
  std::shared_ptr<void> held_owner;  // for an owner that only the action keeps alive
  bool wants_gradients = false;      // else the list is empty

  void operator()(const std::vector<at::Tensor>& gradients) const {
    if (const auto alive = owner.lock()) run(alive.get(), number, gradients);
  }
};

// Lives as long as what a module call has returned can be gone back from.
using Graph = std::shared_ptr<void>;

// Runs the action once a backward: when the first, or the last, of the gradients of these tensors
// is there. Tensors that need none, or that the backward does not reach, are not waited for.
// A leaf outlives its graphs: where one is among the tensors, a graph comes back, and is to be
// given to the same function with what the call returns. The hook on the leaf is old once it has
// run and the graph is gone.
Graph await_gradients(at::TensorList tensors, Await await, GradientAction action,
                      Graph of_inputs = nullptr);

// How a hook is put on a leaf, and taken away again by what it returns. A Python program must use
// Python's own way, which alone gets along with the user's hooks.
using RemoveHook = std::function<void()>;
using HookLeaf =
    std::function<RemoveHook(const at::Tensor& leaf, std::function<void(const at::Tensor&)> hook)>;
void set_leaf_hooker(HookLeaf hook_leaf);

// Takes back what was put for this owner on tensors that outlive their graphs.
void forget_awaited_leaves(const std::weak_ptr<void>& owner);

// The number of the backward that runs on this thread; -1 for none.
int current_backward();

// Runs `done` at the end of the current backward; `abandoned` if it ends with an exception.
void at_end_of_backward(std::function<void()> done, std::function<void()> abandoned);

}  // namespace tidemark::recorder
