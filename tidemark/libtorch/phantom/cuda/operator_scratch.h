// What PyTorch's own CUDA kernels take inside beside all of their results: one rule per operator.
#pragma once

#include <string_view>

#include "tidemark/libtorch/phantom/cuda/scratch_bytes.h"
#include "tidemark/libtorch/phantom/cuda/workspaces.h"

namespace tidemark::phantom {

// Null for an operator of which nothing is known. The name has no overload.
WorkspaceRule find_scratch(std::string_view name);

// The rules' own answer: what is alive beside results, and gone after the call.
using ScratchRule = Scratch (*)(const CallFrame& frame);

Scratch scratch_of_sum(const CallFrame& frame);
Scratch scratch_of_vector_norm(const CallFrame& frame);
Scratch scratch_of_extreme(const CallFrame& frame);
Scratch scratch_of_both_extremes(const CallFrame& frame);
Scratch scratch_of_variance(const CallFrame& frame);
// The same for each channel of a tensor whose channels are its second side.
Scratch scratch_of_variance_of_channels(const at::Tensor& input);
Workspaces of_norms_of_list(const CallFrame& frame);
// The sum over all but channels.
Scratch scratch_of_bias_gradient(const at::Tensor& gradient);
// Of rows of partial sums, added up to one row.
Scratch scratch_of_adding_rows(std::int64_t rows, std::int64_t length, const at::Tensor& like);

Scratch scratch_of_embedding_gradient(const CallFrame& frame);
Scratch scratch_of_bag_gradient(const CallFrame& frame);
Scratch scratch_of_index_put(const CallFrame& frame);
Scratch scratch_of_topk(const CallFrame& frame);
Scratch scratch_of_sort(const CallFrame& frame);

Scratch scratch_of_cudnn_attention_gradient(const CallFrame& frame);
Scratch scratch_of_flash_attention(const CallFrame& frame);
Scratch scratch_of_flash_attention_gradient(const CallFrame& frame);
// Those by position have tensors laid out otherwise, and jagged ones.
Scratch scratch_of_flash_attention_gradient_by_position(const CallFrame& frame);
Workspaces of_efficient_attention(const CallFrame& frame);
Workspaces of_efficient_attention_gradient(const CallFrame& frame);
Workspaces of_efficient_attention_by_position(const CallFrame& frame);
Workspaces of_efficient_attention_gradient_by_position(const CallFrame& frame);

Scratch scratch_of_layer_norm(const CallFrame& frame);
Scratch scratch_of_layer_norm_gradient(const CallFrame& frame);
Scratch scratch_of_rms_norm_gradient(const CallFrame& frame);
Scratch scratch_of_group_norm(const CallFrame& frame);
Scratch scratch_of_group_norm_gradient(const CallFrame& frame);
Scratch scratch_of_batch_norm(const CallFrame& frame);

Scratch scratch_of_fft(const CallFrame& frame);
Scratch scratch_of_fft_to_real(const CallFrame& frame);
// Whether one dimension can stand for all of these, without a copy.
bool can_be_joined(at::IntArrayRef sizes, at::IntArrayRef strides);

// Kernels that read memory in order copy what does not lie so.
Scratch bytes_to_straighten(const at::Tensor& tensor);

}  // namespace tidemark::phantom
