// One column of positions for each dimension of a mask.
#include "tidemark/libtorch/phantom/values/masked_index.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include "tidemark/libtorch/phantom/kernel/quiet.h"

namespace tidemark::phantom {
namespace {

using Indices = c10::List<std::optional<at::Tensor>>;

bool is_mask(const std::optional<at::Tensor>& index) {
  return index && index->defined() &&
         (index->scalar_type() == at::kBool || index->scalar_type() == at::kByte);
}

Indices with_positions(const Indices& indices) {
  at::AutoDispatchBelowADInplaceOrView below;
  QuietPython quiet;
  Indices expanded;
  for (const std::optional<at::Tensor>& index : indices) {
    if (!is_mask(index)) {
      expanded.push_back(index);
      continue;
    }
    const at::Tensor positions = at::nonzero(*index);
    for (std::int64_t dim = 0; dim < index->dim(); ++dim)
      expanded.push_back(positions.select(1, dim));
  }
  return expanded;
}

}  // namespace

bool expand_masks(CallFrame& frame) {
  if (!frame.arg(1).isOptionalTensorList()) return false;
  const Indices indices = frame.arg(1).toOptionalTensorList();
  bool any = false;
  for (const std::optional<at::Tensor>& index : indices) any = any || is_mask(index);
  if (any) frame.arg(1) = with_positions(indices);
  return false;
}

}  // namespace tidemark::phantom
