// CUDA's rules for its attention kernels: what each of them takes.
#pragma once

#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tidemark::phantom {

// A call, of dense tensors or of jagged ones, by sequence, head, position.
struct AttentionQuestion {
  const at::Tensor &query, &key, &value;
  const std::optional<at::Tensor>& mask;
  double dropout;
  bool is_causal, enable_gqa;
  int capability;  // 90 for 9.0

  std::int64_t head_size() const { return last_size(query); }
  std::int64_t value_size() const { return last_size(value); }
  bool has_mask() const { return mask && mask->defined(); }
  bool is_half() const {
    return query.scalar_type() == at::kHalf || query.scalar_type() == at::kBFloat16;
  }
  bool needs_grad() const {
    return at::GradMode::is_enabled() &&
           (query.requires_grad() || key.requires_grad() || value.requires_grad());
  }
  bool has_jagged() const { return query.is_nested() || key.is_nested() || value.is_nested(); }
  bool same_heads() const { return query.size(1) == key.size(1) && key.size(1) == value.size(1); }
  bool shares_heads_of(const at::Tensor& tensor) const {
    return tensor.size(1) > 0 && query.size(1) % tensor.size(1) == 0;
  }
  // A jagged tensor has sizes that are no numbers, but this one is.
  static std::int64_t last_size(const at::Tensor& tensor) {
    return tensor.sym_size(-1).guard_int(__FILE__, __LINE__);
  }
};

struct AttentionRule;

struct AttentionKernel {
  at::SDPBackend backend;
  bool (at::Context::*is_enabled)() const;
  std::span<const AttentionRule> rules;

  // Why it does not take the call; empty where it does.
  std::string_view obstacle(const AttentionQuestion& q) const;
};

// The three fused kernels, and the one that is none and takes all.
std::span<const AttentionKernel> attention_kernels();

}  // namespace tidemark::phantom
