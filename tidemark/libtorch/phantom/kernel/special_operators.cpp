// The catalogue of special operators: one line each.
#include "tidemark/libtorch/phantom/kernel/special_operators.h"

#include "tidemark/libtorch/phantom/cuda/attention.h"
#include "tidemark/libtorch/phantom/cuda/foreach_rules.h"
#include "tidemark/libtorch/phantom/cuda/grad_scaler.h"
#include "tidemark/libtorch/phantom/cuda/grid_sampler.h"
#include "tidemark/libtorch/phantom/cuda/grouped_matmul.h"
#include "tidemark/libtorch/phantom/cuda/recorded_streams.h"
#include "tidemark/libtorch/phantom/cuda/recurrent.h"
#include "tidemark/libtorch/phantom/cuda/recurrent_cells.h"
#include "tidemark/libtorch/phantom/cuda/sparse.h"
#include "tidemark/libtorch/phantom/cuda/synced_norm.h"
#include "tidemark/libtorch/phantom/kernel/catalogue.h"
#include "tidemark/libtorch/phantom/kernel/composite_call.h"
#include "tidemark/libtorch/phantom/kernel/missing_kernel.h"
#include "tidemark/libtorch/phantom/values/host_copies.h"
#include "tidemark/libtorch/phantom/values/masked_index.h"
#include "tidemark/libtorch/phantom/values/plausible_values.h"
#include "tidemark/libtorch/phantom/values/value_questions.h"

namespace tidemark::phantom {
namespace {

using Entry = CatalogueEntry<SpecialOperator>;

constexpr std::array kCatalogue = {
    Entry{"aten::_local_scalar_dense", &answer_scalar},
    Entry{"aten::equal", &answer_equal},
    Entry{"aten::nonzero", &answer_nonzero},
    Entry{"aten::masked_select", &answer_masked_select},
    Entry{"aten::repeat_interleave", &answer_repeats},
    Entry{"aten::index", &expand_masks},
    Entry{"aten::_unsafe_index", &expand_masks},
    Entry{"aten::index_put", &expand_masks},
    Entry{"aten::index_put_", &expand_masks},
    Entry{"aten::_index_put_impl_", &expand_masks},
    Entry{"aten::_unsafe_index_put", &expand_masks},
    Entry{"aten::_grouped_mm", &answer_grouped_matmul},
    Entry{"aten::_unique2", &answer_unique},
    Entry{"aten::unique_dim", &answer_unique},
    Entry{"aten::unique_consecutive", &answer_unique},
    Entry{"aten::bincount", &answer_bincount},
    Entry{"aten::histc", &answer_histogram},
    Entry{"aten::_to_copy", &copy_to_host},
    Entry{"aten::copy_", &copy_into_host},
    Entry{"aten::record_stream", &record_stream},
    Entry{"aten::_amp_foreach_non_finite_check_and_unscale_", &unscale_gradients},
    Entry{"aten::_pack_padded_sequence", &run_parts},
    Entry{"aten::allclose", &run_parts},
    Entry{"aten::view_copy", &run_parts},
    Entry{"aten::select_scatter", &run_parts},
    Entry{"aten::slice_scatter", &run_parts},
    Entry{"aten::diagonal_scatter", &run_parts},
    Entry{"aten::as_strided_scatter", &run_parts},
    Entry{"aten::_to_sparse", &run_shared_kernel},
    Entry{"aten::_to_sparse_csr", &run_shared_kernel},
    Entry{"aten::_to_sparse_csc", &run_shared_kernel},
    Entry{"aten::_embedding_bag_backward", &answer_bag_gradient},
    Entry{"aten::quantize_per_tensor", &refuse_layout},
    Entry{"aten::quantize_per_tensor_dynamic", &refuse_layout},
    Entry{"aten::quantize_per_channel", &refuse_layout},
    Entry{"aten::_nested_tensor_from_mask_left_aligned", &answer_aligned},
    Entry{"aten::_nested_tensor_from_mask", &refuse_nested},
    Entry{"aten::_nested_tensor_from_tensor_list", &refuse_nested},
    Entry{"aten::_nested_from_padded", &refuse_nested},
    Entry{"aten::_nested_view_from_buffer", &refuse_nested},
    Entry{"aten::_use_cudnn_ctc_loss", &answer_no},
    Entry{"aten::_use_miopen_ctc_loss", &answer_no},
    Entry{"aten::_fused_sdp_choice", &answer_attention},
    Entry{"aten::batch_norm_stats", &answer_norm_statistics},
    Entry{"aten::batch_norm_update_stats", &answer_norm_statistics},
    Entry{"aten::batch_norm_gather_stats", &answer_gathered_statistics},
    Entry{"aten::batch_norm_gather_stats_with_counts", &answer_gathered_statistics},
    Entry{"aten::batch_norm_elemt", &answer_normalized},
    Entry{"aten::batch_norm_backward_reduce", &answer_norm_gradient_sums},
    Entry{"aten::batch_norm_backward_elemt", &answer_norm_gradient},
    Entry{"aten::_cudnn_rnn", &answer_recurrent},
    Entry{"aten::_cudnn_rnn_backward", &answer_recurrent_backward},
    Entry{"aten::_cudnn_rnn_flatten_weight", &flatten_weights},
    Entry{"aten::_thnn_fused_lstm_cell", &answer_lstm_cell},
    Entry{"aten::_thnn_fused_gru_cell", &answer_gru_cell},
    Entry{"aten::_thnn_fused_gru_cell_backward", &answer_gru_cell_backward},
    Entry{"aten::cudnn_grid_sampler", &answer_sampled_image},
    Entry{"aten::cudnn_grid_sampler_backward", &answer_sampled_image_backward},
    Entry{"torchvision::nms", &answer_kept_boxes},
};

using PlausibleEntry = CatalogueEntry<PlausibleValues>;

constexpr std::array kPlausible = {
    PlausibleEntry{"aten::topk", &give_indices},
    PlausibleEntry{"aten::sort", &give_indices},
    PlausibleEntry{"aten::argsort", &give_indices},
    PlausibleEntry{"aten::argmax", &give_indices},
    PlausibleEntry{"aten::argmin", &give_indices},
    PlausibleEntry{"aten::multinomial", &give_indices},
    PlausibleEntry{"aten::isnan", &give_false},
    PlausibleEntry{"aten::isinf", &give_false},
    // isfinite(x) is made of these on CUDA: x == x, |x| != infinity.
    PlausibleEntry{"aten::eq", &give_equal},
    PlausibleEntry{"aten::ne", &give_unequal},
    PlausibleEntry{"aten::lt", &give_below},
    PlausibleEntry{"aten::le", &give_below},
    PlausibleEntry{"aten::gt", &give_above},
    PlausibleEntry{"aten::ge", &give_above},
    PlausibleEntry{"aten::_is_all_true", &give_true},  // torch._check: programs check what holds
    PlausibleEntry{"aten::all", &give_true},
    PlausibleEntry{"aten::dot", &give_curvature},
};

}  // namespace

PlausibleValues find_plausible(std::string_view name) { return find_in(kPlausible, name); }

SpecialOperator find_special(std::string_view name) {
  if (const SpecialOperator special = find_in(kCatalogue, name)) return special;
  if (name.starts_with("aten::_fused_adam") || name.starts_with("aten::_fused_sgd") ||
      name.starts_with("aten::_fused_adagrad"))
    return &do_nothing;
  return name.starts_with("aten::_foreach_") ? &follow_foreach_rule : nullptr;
}

}  // namespace tidemark::phantom
