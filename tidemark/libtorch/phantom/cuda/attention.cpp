// CUDA's chooser as a table: for each kernel the rules that a call must keep.
//
// The answers of an H200 to thirteen thousand calls are the test (tests/phantom/test_attention.py).
#include "tidemark/libtorch/phantom/cuda/attention.h"

#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/native/transformers/attention.h>

#include <algorithm>
#include <array>
#include <span>

#include "tidemark/libtorch/phantom/cuda/cuda_stub.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

struct Question {
  const at::Tensor &query, &key, &value;
  const std::optional<at::Tensor>& mask;
  double dropout;
  bool is_causal, enable_gqa;
  int capability;  // 90 for 9.0

  std::int64_t head_size() const { return query.size(-1); }
  std::int64_t value_size() const { return value.size(-1); }
  bool has_mask() const { return mask && mask->defined(); }
  bool is_half() const {
    return query.scalar_type() == at::kHalf || query.scalar_type() == at::kBFloat16;
  }
  bool needs_grad() const {
    return query.requires_grad() || key.requires_grad() || value.requires_grad();
  }
  bool same_heads() const { return query.size(1) == key.size(1) && key.size(1) == value.size(1); }
};

using Rule = bool (*)(const Question&);

// Of every fused kernel.
bool is_regular(const Question& q) {
  return q.query.dim() == 4 && q.key.dim() == 4 && q.value.dim() == 4 && q.query.size(2) > 0 &&
         q.key.size(2) > 0 && q.query.scalar_type() == q.key.scalar_type() &&
         q.key.scalar_type() == q.value.scalar_type();
}
bool is_dense(const Question& q) {
  const bool good = q.query.stride(-1) == 1 && q.key.stride(-1) == 1 && q.value.stride(-1) == 1;
  return good && (!q.has_mask() || q.mask->stride(-1) == 1 || q.mask->size(-1) == 1);
}

// Of flash and cuDNN.
bool is_half_on_ampere(const Question& q) { return q.is_half() && q.capability >= 80; }
bool has_its_heads(const Question& q) { return q.same_heads() || q.enable_gqa; }

// Of flash.
bool has_no_mask(const Question& q) { return !q.has_mask(); }
bool has_one_size_up_to_256(const Question& q) {
  return q.head_size() <= 256 && q.head_size() == q.key.size(-1) && q.head_size() == q.value_size();
}
bool is_square_if_causal(const Question& q) {
  return !q.is_causal || q.query.size(2) == q.key.size(2);
}
// Training with large heads needs the shared memory of the chips for data centres; with the largest
// ones others do without it where nothing is dropped.
bool fits_shared_memory(const Question& q) {
  const bool is_small = (q.capability >= 86 && q.capability <= 89) || q.capability >= 120;
  if (!is_small || !q.needs_grad() || q.head_size() <= 192) return true;
  return q.head_size() > 224 && q.dropout == 0;
}

// Of the memory-efficient kernel.
bool has_a_type_of_the_chip(const Question& q) {
  if (q.query.scalar_type() == at::kBFloat16) return q.capability >= 80;
  return q.capability >= 50 && (q.is_half() || q.query.scalar_type() == at::kFloat);
}
bool is_not_grouped(const Question& q) { return q.same_heads(); }
// Half types are loaded in groups of eight elements, floats of four.
bool is_aligned(const Question& q) {
  const std::int64_t alignment = q.is_half() ? 8 : (q.capability >= 80 ? 4 : 1);
  return q.head_size() % alignment == 0 && q.value_size() % alignment == 0;
}

// Of cuDNN, 9.11 and later: every torch that is supported here comes with one. It has larger sizes
// on Hopper, and one more pair on the Blackwells for data centres.
bool has_sizes_of_cudnn(const Question& q) {
  if (q.capability / 10 == 10 && q.head_size() == 192 && q.value_size() == 128) return true;
  const std::int64_t most = q.capability == 90 ? 256 : 128;
  return q.head_size() <= most && q.value_size() <= most && q.head_size() % 8 == 0 &&
         q.value_size() % 8 == 0;
}
bool gives_bias_no_gradient(const Question& q) { return !q.has_mask() || !q.mask->requires_grad(); }
bool drops_nothing_of_one_query(const Question& q) { return q.query.size(2) > 1 || q.dropout == 0; }
bool may_vary(const Question&) { return !at::globalContext().deterministicAlgorithms(); }

constexpr std::array<Rule, 8> kFlash = {&is_regular,          &is_dense,
                                        &is_half_on_ampere,   &has_its_heads,
                                        &has_no_mask,         &has_one_size_up_to_256,
                                        &is_square_if_causal, &fits_shared_memory};
constexpr std::array<Rule, 5> kEfficient = {&is_regular, &is_dense, &has_a_type_of_the_chip,
                                            &is_not_grouped, &is_aligned};
constexpr std::array<Rule, 8> kCudnn = {&is_regular,
                                        &is_dense,
                                        &is_half_on_ampere,
                                        &has_its_heads,
                                        &has_sizes_of_cudnn,
                                        &gives_bias_no_gradient,
                                        &drops_nothing_of_one_query,
                                        &may_vary};

struct Kernel {
  at::SDPBackend backend;
  bool (at::Context::*is_enabled)() const;
  std::span<const Rule> rules;

  bool takes(const Question& q) const {
    return (at::globalContext().*is_enabled)() &&
           std::all_of(rules.begin(), rules.end(), [&](Rule rule) { return rule(q); });
  }
};
constexpr std::array kKernels = {
    Kernel{at::SDPBackend::flash_attention, &at::Context::userEnabledFlashSDP, kFlash},
    Kernel{at::SDPBackend::efficient_attention, &at::Context::userEnabledMemEfficientSDP,
           kEfficient},
    Kernel{at::SDPBackend::cudnn_attention, &at::Context::userEnabledCuDNNSDP, kCudnn},
    Kernel{at::SDPBackend::math, &at::Context::userEnabledMathSDP, {}}};

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

at::SDPBackend choose(const Question& q) {
  if (!session_options().cuda_choices) return at::SDPBackend::math;
  for (const at::SDPBackend backend : order())
    for (const Kernel& kernel : kKernels)
      if (kernel.backend == backend && kernel.takes(q)) return backend;
  TORCH_CHECK(false,
              "No available kernel for scaled_dot_product_attention: every one that could "
              "run on " +
                  virtual_gpus().model().name + " is switched off.");
}

std::int64_t choice(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                    const std::optional<at::Tensor>& mask, double dropout, bool is_causal,
                    std::optional<double>, bool enable_gqa) {
  const GpuModel& gpu = virtual_gpus().model();
  return static_cast<std::int64_t>(choose(
      {query, key, value, mask, dropout, is_causal, enable_gqa, 10 * gpu.major + gpu.minor}));
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

void install_attention_choice() {
  g_chooser_before = std::exchange(chooser(), reinterpret_cast<void*>(&choice));
}

void remove_attention_choice() { chooser() = g_chooser_before; }

}  // namespace tidemark::phantom
