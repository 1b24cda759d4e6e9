// Operators whose results lie on the storage of their first argument: generated from torch 2.13.0.
//
// Written by tidemark/engine/operators/generate_aliases.py; not to be edited by hand.
#pragma once

namespace tidemark::operators {

inline constexpr char kAlwaysViews[] =
    "_conj _fw_primal _indices _make_dual _ncf_unsqueeze _ncf_view _neg_view _nested_get_values "
    "_nested_view_from_buffer _nested_view_from_jagged _reshape_alias _sparse_broadcast_to "
    "_test_autograd_multiple_dispatch_view _unpack_dual _values adjoint alias as_strided "
    "broadcast_to ccol_indices chunk col_indices conj crow_indices detach diagonal dsplit expand "
    "expand_as hsplit imag indices lift_fresh linalg_diagonal mH mT matrix_H moveaxis movedim "
    "narrow numpy_T permute positive real row_indices select slice slice_inverse split "
    "split_with_sizes squeeze swapaxes swapdims t tensor_split transpose unbind unflatten unfold "
    "unsqueeze values view view_as view_as_complex view_as_real vsplit ";

inline constexpr char kSometimesViews[] =
    "_autocast_to_full_precision _autocast_to_reduced_precision _grad_sum_to_size as_tensor "
    "coalesce contiguous cpu cuda flatten pin_memory ravel reshape reshape_as resolve_conj "
    "resolve_neg to ";

}  // namespace tidemark::operators
