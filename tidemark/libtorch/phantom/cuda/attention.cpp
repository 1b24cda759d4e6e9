// The rules of CUDA's chooser, by dtype, head size, mask, capability and the user's context.
#include "tidemark/libtorch/phantom/cuda/attention.h"

#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/native/transformers/attention.h>

#include "tidemark/libtorch/phantom/cuda/cuda_stub.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

struct Question {
  const at::Tensor &query, &key, &value;
  const std::optional<at::Tensor>& mask;
  double dropout;
  bool is_causal, enable_gqa;

  std::int64_t head_size() const { return query.size(-1); }
  bool has_mask() const { return mask && mask->defined(); }
  bool is_half() const {
    return query.scalar_type() == at::kHalf || query.scalar_type() == at::kBFloat16;
  }
  bool needs_grad() const {
    return query.requires_grad() || key.requires_grad() || value.requires_grad();
  }
  bool same_heads() const { return query.size(1) == key.size(1) && key.size(1) == value.size(1); }
  bool last_dims_are_dense() const {
    const bool good = query.stride(-1) == 1 && key.stride(-1) == 1 && value.stride(-1) == 1;
    return good && (!has_mask() || mask->stride(-1) == 1 || mask->size(-1) == 1);
  }
  bool is_regular() const {
    return query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && query.numel() > 0 &&
           key.numel() > 0 && query.scalar_type() == key.scalar_type() &&
           key.scalar_type() == value.scalar_type();
  }
};

int capability() {
  const GpuModel& gpu = virtual_gpus().model();
  return 10 * gpu.major + gpu.minor;
}

bool can_flash(const Question& q) {
  if (!at::globalContext().userEnabledFlashSDP() || capability() < 80) return false;
  if (!q.is_half() || q.has_mask() || q.head_size() > 256) return false;
  if (q.head_size() != q.key.size(-1) || q.head_size() != q.value.size(-1)) return false;
  if (!q.same_heads() && !q.enable_gqa) return false;
  // Training with large heads and dropout needs the shared memory of the big chips.
  const bool big_chip = capability() == 80 || capability() >= 90;
  if (q.needs_grad() && q.head_size() > 192 && q.dropout > 0 && !big_chip) return false;
  return q.last_dims_are_dense() && !(q.is_causal && q.query.size(2) != q.key.size(2) && false);
}

bool can_efficient(const Question& q) {
  if (!at::globalContext().userEnabledMemEfficientSDP() || capability() < 50) return false;
  const bool bfloat = q.query.scalar_type() == at::kBFloat16;
  if (!q.is_half() && q.query.scalar_type() != at::kFloat) return false;
  if (bfloat && capability() < 80) return false;
  if (!q.same_heads()) return false;
  // Half types are loaded in groups of eight elements, floats of four.
  const std::int64_t alignment = q.is_half() ? 8 : (capability() >= 80 ? 4 : 1);
  if (q.head_size() % alignment != 0 || q.value.size(-1) % alignment != 0) return false;
  return q.last_dims_are_dense();
}

bool can_cudnn(const Question& q) {
  if (!at::globalContext().userEnabledCuDNNSDP() || capability() < 80 || !q.is_half()) return false;
  const std::int64_t most = capability() >= 90 ? 256 : 128;
  if (q.head_size() > most || q.value.size(-1) > most) return false;
  if (q.head_size() % 8 != 0 || q.value.size(-1) % 8 != 0 || !q.last_dims_are_dense()) return false;
  if (q.needs_grad() && q.head_size() > 128 && capability() < 90) return false;
  if (q.has_mask() && q.is_causal) return false;
  return q.query.size(2) > 1 && (q.same_heads() || q.enable_gqa);
}

bool prefers_cudnn() {
  return virtual_gpus().model().minor == 0 &&
         (virtual_gpus().model().major == 9 || virtual_gpus().model().major == 10);
}

at::SDPBackend choose(const Question& q) {
  if (!session_options().cuda_choices || !q.is_regular()) return at::SDPBackend::math;
  if (prefers_cudnn() && can_cudnn(q)) return at::SDPBackend::cudnn_attention;
  if (can_flash(q)) return at::SDPBackend::flash_attention;
  if (can_efficient(q)) return at::SDPBackend::efficient_attention;
  if (at::globalContext().userEnabledMathSDP()) return at::SDPBackend::math;
  if (can_cudnn(q)) return at::SDPBackend::cudnn_attention;
  TORCH_CHECK(false,
              "No available kernel for scaled_dot_product_attention: every one that could "
              "run on " +
                  virtual_gpus().model().name + " is switched off.");
}

std::int64_t choice(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                    const std::optional<at::Tensor>& mask, double dropout, bool is_causal,
                    std::optional<double>, bool enable_gqa) {
  return static_cast<std::int64_t>(
      choose({query, key, value, mask, dropout, is_causal, enable_gqa}));
}

void*& chooser() { return cuda_pointer(at::native::_fused_sdp_choice_stub); }

void* g_chooser_before = nullptr;

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
