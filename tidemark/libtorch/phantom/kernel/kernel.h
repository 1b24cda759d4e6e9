// The one kernel on the CUDA key: every operator that touches a phantom comes through here.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>

#include <memory>
#include <mutex>
#include <unordered_map>

#include "tidemark/engine/base/ids.h"
#include "tidemark/libtorch/phantom/cuda/workspaces.h"
#include "tidemark/libtorch/phantom/kernel/memo_entry.h"
#include "tidemark/libtorch/phantom/kernel/memo_key.h"
#include "tidemark/libtorch/phantom/kernel/special_operators.h"

namespace tidemark::phantom {

// What an operator's declaration says, looked up once.
struct OperatorFacts {
  explicit OperatorFacts(const c10::OperatorHandle& op);

  std::string name;                   // "aten::add.Tensor"
  SpecialOperator special;            // null for most
  PlausibleValues plausible;          // null for most
  WorkspaceRule workspaces;           // null for most
  bool may_memo = true;               // its shapes follow from its arguments alone
  bool writes = false;                // it writes values into an argument
  bool overwrites = false;            // it does so whatever was there before
  bool floats_change_shapes = false;  // of another library: nobody knows what its numbers mean
  bool fills = false;                 // zeros_like(): only the shape of its argument counts
  bool reads_no_buffer = false;       // log_sigmoid_backward(): but on the CPU it does
  bool mixes_devices = false;         // copy_(): arguments of several GPUs may meet
  bool is_view = false;             // results share the storage of an argument: values come with it
  bool leaves_values_open = false;  // empty(), resize_(): there are no values to compute
  bool is_random = false;
};

class PhantomKernel final : public c10::OperatorKernel {
 public:
  explicit PhantomKernel(const c10::OperatorHandle& op) : facts_(op) {}
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                  torch::jit::Stack* stack);

 private:
  // Fake tensors carry the CUDA bit too; they live by their shapes alone.
  void run_on_meta(const c10::OperatorHandle& op, torch::jit::Stack* stack) const;
  // False where the call is to go the common way.
  bool run_special(CallFrame& frame);
  void run(CallFrame& frame);
  const MemoEntry* find(const MemoKey& key);
  // Runs on twins; keeps the recipe where it may be used again. Nothing, not even null, where the
  // operator's parts are to run.
  std::optional<const MemoEntry*> learn(CallFrame& frame, const std::optional<MemoKey>& key);
  // By the rule, if there is one.
  Workspaces workspaces_of(const CallFrame& frame) const;
  bool may_compute(const CallFrame& frame) const;
  // The call of a special operator: its name alone.
  CallId named_call();

  const OperatorFacts facts_;
  std::once_flag named_;
  CallId name_;
  std::mutex lock_;
  std::unordered_map<MemoKey, std::unique_ptr<MemoEntry>> memo_;
};

}  // namespace tidemark::phantom
