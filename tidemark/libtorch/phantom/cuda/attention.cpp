// CUDA's chooser: the first kernel in order whose rules the call keeps.
//
// The answers of an H200 to thirteen thousand calls are the test (tests/phantom/test_attention.py).
#include "tidemark/libtorch/phantom/cuda/attention.h"

#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/native/transformers/attention.h>

#include <algorithm>

#include "tidemark/libtorch/phantom/cuda/attention_rules.h"
#include "tidemark/libtorch/phantom/cuda/cuda_stub.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

// The user's order; where it is PyTorch's own, the chips that cuDNN was made for ask it first.
auto order() {
  auto all = at::globalContext().sDPPriorityOrder();
  const auto cudnn = std::find(all.begin(), all.end(), at::SDPBackend::cudnn_attention);
  const GpuModel& gpu = virtual_gpus().model();
  const bool is_own = all.front() == at::SDPBackend::flash_attention && cudnn - all.begin() == 3;
  const bool prefers_cudnn = gpu.minor == 0 && (gpu.major == 9 || gpu.major == 10);
  if (is_own && prefers_cudnn) std::rotate(all.begin(), cudnn, cudnn + 1);
  return all;
}

at::SDPBackend choose(const AttentionQuestion& q) {
  if (!session_options().cuda_choices) return at::SDPBackend::math;
  for (const at::SDPBackend backend : order())
    for (const AttentionKernel& kernel : attention_kernels())
      if (kernel.backend == backend && kernel.obstacle(q).empty()) return backend;
  TORCH_CHECK(false,
              "No available kernel for scaled_dot_product_attention: every one that could "
              "run on " +
                  virtual_gpus().model().name + " is switched off.");
}

int capability() {
  const GpuModel& gpu = virtual_gpus().model();
  return 10 * gpu.major + gpu.minor;
}

std::int64_t choice(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                    const std::optional<at::Tensor>& mask, double dropout, bool is_causal,
                    std::optional<double>, bool enable_gqa) {
  return static_cast<std::int64_t>(
      choose({query, key, value, mask, dropout, is_causal, enable_gqa, capability()}));
}

void*& chooser() { return cuda_pointer(at::native::_fused_sdp_choice_stub); }

void* g_chooser_before = nullptr;  // in PyTorch's own global table

}  // namespace

bool answer_attention(CallFrame& frame) {
  const auto mask = frame.arg(3).toOptional<at::Tensor>();
  const std::int64_t chosen =
      choice(frame.arg(0).toTensor(), frame.arg(1).toTensor(), frame.arg(2).toTensor(), mask,
             frame.arg(4).toDouble(), frame.arg(5).toBool(), std::nullopt, frame.arg(7).toBool());
  frame.drop_args();
  frame.push(chosen);
  return true;
}

std::string_view attention_obstacle(at::SDPBackend backend, const at::Tensor& query,
                                    const at::Tensor& key, const at::Tensor& value,
                                    const std::optional<at::Tensor>& mask, double dropout,
                                    bool is_causal, bool enable_gqa) {
  for (const AttentionKernel& kernel : attention_kernels())
    if (kernel.backend == backend)
      return kernel.obstacle(
          {query, key, value, mask, dropout, is_causal, enable_gqa, capability()});
  return "there is no such kernel";
}

void install_attention_choice() {
  g_chooser_before = std::exchange(chooser(), reinterpret_cast<void*>(&choice));
}

void remove_attention_choice() { chooser() = g_chooser_before; }

}  // namespace tidemark::phantom
