// Tells when gradients of tensors arrive in a backward, and when that backward is over.
//
// Nothing is kept alive: neither the tensors, nor the graph, nor (unless asked for) gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace tidemark::recorder {

enum class Await { First, All };

struct GradientAction {
  std::function<void(const std::vector<at::Tensor>&)> run;
  bool wants_gradients = false;  // else the list is empty
};

// Runs the action once a backward: when the first, or the last, of the gradients of these tensors
// is there. Tensors that the backward does not reach are not waited for.
void await_gradients(const std::vector<at::Tensor>& tensors, Await await, GradientAction action);

// How a hook is put on a leaf, and taken away again by what it returns. A Python program must use
// Python's own way, which alone gets along with the user's hooks.
using RemoveHook = std::function<void()>;
using HookLeaf =
    std::function<RemoveHook(const at::Tensor& leaf, std::function<void(const at::Tensor&)> hook)>;
void set_leaf_hooker(HookLeaf hook_leaf);

// Takes back what was put on tensors that outlive their graphs.
void forget_awaited_leaves();

// The number of the backward that runs on this thread; -1 for none.
int current_backward();

// Runs `done` at the end of the current backward; `abandoned` if it ends with an exception.
void at_end_of_backward(std::function<void()> done, std::function<void()> abandoned);

}  // namespace tidemark::recorder
