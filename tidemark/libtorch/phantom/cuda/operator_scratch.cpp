// The table of rules, and those that are a line or two.
#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"

#include <algorithm>

#include "tidemark/libtorch/phantom/kernel/catalogue.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

std::int64_t bytes_of(const at::Tensor& tensor) {
  return in_blocks(tensor.numel() * static_cast<std::int64_t>(tensor.itemsize()));
}

template <std::size_t kArgument>
Scratch scratch_to_straighten(const CallFrame& frame) {
  return bytes_to_straighten(frame.arg(kArgument).toTensor());
}

// The gradient times the output, which the kernel reads in order.
Scratch scratch_of_softmax_gradient(const CallFrame& frame) {
  const at::Tensor& gradient = frame.arg(0).toTensor();
  return Scratch(bytes_of(gradient)) + bytes_to_straighten(gradient) +
         bytes_to_straighten(frame.arg(1).toTensor());
}

// Which numbers are minus infinity, and in which rows all are.
Scratch scratch_of_safe_softmax(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(0).toTensor();
  if (input.dim() == 0 || input.numel() == 0) return 0;
  constexpr std::int64_t kZero = 512;
  return Scratch(in_blocks(input.numel())) +
         in_blocks(input.numel() / input.size(frame.arg(1).toInt())) + kZero;
}

// The loss of each element, where only their sum or mean is asked for.
Scratch scratch_of_loss(const CallFrame& frame) {
  const bool keeps_elements = frame.arg(2).toInt() == 0;
  const at::Tensor& input = frame.arg(0).toTensor();
  const at::Tensor& target = frame.arg(1).toTensor();
  return keeps_elements ? 0 : bytes_of(input.numel() < target.numel() ? target : input);
}

// The logarithm of the sigmoid, and the loss of each element.
Scratch scratch_of_loss_of_logits(const CallFrame& frame) {
  const bool keeps_elements = frame.arg(4).toInt() == 0;
  return Scratch::times(keeps_elements ? 1 : 2, bytes_of(frame.arg(0).toTensor()));
}

// One dimension after the other; the first of them is kept until the last is done.
Scratch scratch_of_roll(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(0).toTensor();
  const auto dimensions = static_cast<std::int64_t>(frame.arg(2).toIntList().size());
  return dimensions > 1 ? Scratch::times(dimensions - 1, bytes_of(input))
                        : bytes_to_straighten(input);
}

// A copy in the result's type, and one in order.
Scratch scratch_of_running_sum(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(0).toTensor();
  const bool integral = at::isIntegralType(input.scalar_type(), /*includeBool=*/true);
  const at::ScalarType type = frame.arg(2).isInt() ? frame.arg(2).toScalarType()
                              : integral           ? at::kLong
                                                   : input.scalar_type();
  const std::int64_t bytes =
      in_blocks(input.numel() * static_cast<std::int64_t>(at::elementSize(type)));
  return Scratch(type != input.scalar_type() ? bytes : 0) + (input.is_contiguous() ? 0 : bytes);
}

// Both lists of points with two columns more, for one product of matrices.
Scratch scratch_of_distances(const CallFrame& frame) {
  Scratch both(0);
  for (std::size_t i = 0; i < 2; ++i) {
    const at::Tensor& points = frame.arg(i).toTensor();
    const std::int64_t columns = points.dim() > 0 ? points.size(-1) : 0;
    if (columns > 0)
      both = both + in_blocks(points.numel() / columns * (columns + 2) *
                              static_cast<std::int64_t>(points.itemsize()));
  }
  return both;
}

// Rows are looked up by one list of indices.
Scratch scratch_of_lookup(const CallFrame& frame) {
  const at::Tensor& indices = frame.arg(1).toTensor();
  const bool joins = can_be_joined(indices.sizes(), indices.strides());
  return Scratch(joins ? 0 : bytes_of(indices)).then_results(0);
}

using ScratchEntry = CatalogueEntry<WorkspaceRule>;

constexpr std::int64_t kMostResults = 3;  // of an operator in the table

template <ScratchRule kRule>
Workspaces beside_results(const CallFrame& frame) {
  if (!session_options().cuda_choices) return {};
  const Scratch scratch = kRule(frame);
  Workspaces workspaces;
  workspaces.pieces.add_nested(scratch.amounts(), scratch.before_results(), kMostResults);
  return workspaces;
}

// The mask is there before what it is laid on.
Workspaces of_dropout(const CallFrame& frame) {
  const bool is_off = frame.arg(2).isBool() && !frame.arg(2).toBool();
  if (!session_options().cuda_choices || is_off) return {};
  Workspaces workspaces;
  workspaces.pieces.add_result(1);
  workspaces.pieces.add_result(0);
  return workspaces;
}

// The least and the greatest zero point, which are checked before anything is born.
Workspaces of_quantized_channels(const CallFrame& frame) {
  if (!session_options().cuda_choices) return {};
  const auto bytes = static_cast<std::int64_t>(frame.arg(2).toTensor().itemsize());
  Workspaces workspaces;
  const auto least = workspaces.pieces.take(bytes), greatest = workspaces.pieces.take(bytes);
  workspaces.pieces.give_back(greatest);
  workspaces.pieces.give_back(least);
  workspaces.pieces.add_result(0);
  workspaces.pieces.add_result(1);
  return workspaces;
}

constexpr std::array kScratchRules = {
    ScratchEntry{"aten::sum", &beside_results<&scratch_of_sum>},
    ScratchEntry{"aten::mean", &beside_results<&scratch_of_sum>},
    ScratchEntry{"aten::linalg_vector_norm", &beside_results<&scratch_of_vector_norm>},
    ScratchEntry{"aten::embedding_dense_backward", &beside_results<&scratch_of_embedding_gradient>},
    ScratchEntry{"aten::_embedding_bag_backward", &beside_results<&scratch_of_bag_gradient>},
    ScratchEntry{"aten::index_put", &beside_results<&scratch_of_index_put>},
    ScratchEntry{"aten::_index_put_impl", &beside_results<&scratch_of_index_put>},
    ScratchEntry{"aten::_unsafe_index_put", &beside_results<&scratch_of_index_put>},
    ScratchEntry{"aten::max", &beside_results<&scratch_of_extreme>},
    ScratchEntry{"aten::min", &beside_results<&scratch_of_extreme>},
    ScratchEntry{"aten::aminmax", &beside_results<&scratch_of_both_extremes>},
    ScratchEntry{"aten::std", &beside_results<&scratch_of_variance>},
    ScratchEntry{"aten::var", &beside_results<&scratch_of_variance>},
    ScratchEntry{"aten::std_mean", &beside_results<&scratch_of_variance>},
    ScratchEntry{"aten::var_mean", &beside_results<&scratch_of_variance>},
    ScratchEntry{"aten::_foreach_norm", &of_norms_of_list},
    ScratchEntry{"aten::embedding", &beside_results<&scratch_of_lookup>},
    ScratchEntry{"aten::fake_quantize_per_channel_affine_cachemask", &of_quantized_channels},
    ScratchEntry{"aten::_fft_r2c", &beside_results<&scratch_of_fft>},
    ScratchEntry{"aten::_fft_c2c", &beside_results<&scratch_of_fft>},
    ScratchEntry{"aten::_fft_c2r", &beside_results<&scratch_of_fft_to_real>},
    ScratchEntry{"aten::sort", &beside_results<&scratch_of_sort>},
    ScratchEntry{"aten::topk", &beside_results<&scratch_of_topk>},
    ScratchEntry{"aten::_scaled_dot_product_cudnn_attention_backward",
                 &beside_results<&scratch_of_cudnn_attention_gradient>},
    ScratchEntry{"aten::_scaled_dot_product_flash_attention",
                 &beside_results<&scratch_of_flash_attention>},
    ScratchEntry{"aten::_scaled_dot_product_flash_attention_backward",
                 &beside_results<&scratch_of_flash_attention_gradient>},
    ScratchEntry{"aten::_flash_attention_backward",
                 &beside_results<&scratch_of_flash_attention_gradient_by_position>},
    ScratchEntry{"aten::_scaled_dot_product_efficient_attention", &of_efficient_attention},
    ScratchEntry{"aten::_scaled_dot_product_efficient_attention_backward",
                 &of_efficient_attention_gradient},
    ScratchEntry{"aten::_efficient_attention_forward", &of_efficient_attention_by_position},
    ScratchEntry{"aten::_efficient_attention_backward",
                 &of_efficient_attention_gradient_by_position},
    ScratchEntry{"aten::native_dropout", &of_dropout},
    ScratchEntry{"aten::native_layer_norm", &beside_results<&scratch_of_layer_norm>},
    ScratchEntry{"aten::native_layer_norm_backward",
                 &beside_results<&scratch_of_layer_norm_gradient>},
    ScratchEntry{"aten::_fused_rms_norm", &beside_results<&scratch_of_layer_norm>},
    ScratchEntry{"aten::_fused_rms_norm_backward", &beside_results<&scratch_of_rms_norm_gradient>},
    ScratchEntry{"aten::native_group_norm", &beside_results<&scratch_of_group_norm>},
    ScratchEntry{"aten::native_group_norm_backward",
                 &beside_results<&scratch_of_group_norm_gradient>},
    ScratchEntry{"aten::native_batch_norm", &beside_results<&scratch_of_batch_norm>},
    ScratchEntry{"aten::_softmax_backward_data", &beside_results<&scratch_of_softmax_gradient>},
    ScratchEntry{"aten::_safe_softmax", &beside_results<&scratch_of_safe_softmax>},
    ScratchEntry{"aten::mse_loss", &beside_results<&scratch_of_loss>},
    ScratchEntry{"aten::smooth_l1_loss", &beside_results<&scratch_of_loss>},
    ScratchEntry{"aten::huber_loss", &beside_results<&scratch_of_loss>},
    ScratchEntry{"aten::binary_cross_entropy_with_logits",
                 &beside_results<&scratch_of_loss_of_logits>},
    ScratchEntry{"aten::roll", &beside_results<&scratch_of_roll>},
    ScratchEntry{"aten::cumsum", &beside_results<&scratch_of_running_sum>},
    ScratchEntry{"aten::_euclidean_dist", &beside_results<&scratch_of_distances>},
    ScratchEntry{"aten::upsample_bilinear2d_backward", &beside_results<&scratch_to_straighten<0>>},
};

}  // namespace

Scratch bytes_to_straighten(const at::Tensor& tensor) {
  return tensor.is_contiguous() ? 0 : bytes_of(tensor);
}

WorkspaceRule find_scratch(std::string_view name) { return find_in(kScratchRules, name); }

}  // namespace tidemark::phantom
