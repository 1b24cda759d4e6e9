// Which attention kernel CUDA would take: flash, memory-efficient, cuDNN or math.
#pragma once

#include <ATen/SDPBackend.h>

#include <optional>
#include <string_view>

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

bool answer_attention(CallFrame& frame);

// Why CUDA's kernel would not take a call, as torch.backends.cuda.can_use_flash_attention and its
// kin are asked; empty where it would. Of dense tensors and of jagged ones.
std::string_view attention_obstacle(at::SDPBackend backend, const at::Tensor& query,
                                    const at::Tensor& key, const at::Tensor& value,
                                    const std::optional<at::Tensor>& mask, double dropout,
                                    bool is_causal, bool enable_gqa);

// Lets scaled_dot_product_attention ask us: a CPU build has no chooser for CUDA, and that of a CUDA
// build asks the driver. And back.
void install_attention_choice();
void remove_attention_choice();

}  // namespace tidemark::phantom
