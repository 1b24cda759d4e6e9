// cuBLAS reads columns: rows of the result are its columns, so it is asked for the transposed
// product, whose first factor is the second one of the call.
#include "tidemark/libtorch/phantom/cuda/product_copies.h"

#include <algorithm>

namespace tidemark::phantom {
namespace {

// Are neighbours along dimension `fast` neighbours in memory, and lines along it apart?
bool lies_along(const at::Tensor& matrices, std::int64_t fast, std::int64_t slow) {
  return matrices.stride(fast) == 1 &&
         matrices.stride(slow) >= std::max<std::int64_t>(matrices.size(fast), 1);
}

// It can be told to conjugate a matrix only where it transposes it, too. Of matrices of one row or
// column, strides do not say how they lie.
bool is_copied(const at::Tensor& matrices, std::int64_t fast, std::int64_t slow) {
  if (lies_along(matrices, fast, slow)) return matrices.is_conj();
  if (lies_along(matrices, slow, fast)) return false;
  const bool moves = matrices.stride(fast) != 0 && matrices.stride(slow) != 0;
  return matrices.is_conj() || !matrices.is_contiguous() || !moves;
}

Pieces copies_of(const at::Tensor& first, bool first_is_copied, const at::Tensor& second,
                 bool second_is_copied) {
  Pieces pieces;
  if (!first_is_copied && !second_is_copied) return pieces;
  pieces.add_result(0);
  const auto of_first =
      pieces.take(first_is_copied ? static_cast<std::int64_t>(first.nbytes()) : 0);
  const auto of_second =
      pieces.take(second_is_copied ? static_cast<std::int64_t>(second.nbytes()) : 0);
  pieces.give_back(of_second);
  pieces.give_back(of_first);
  return pieces;
}

bool is_empty(const at::Tensor& left, const at::Tensor& right) {
  return left.numel() == 0 || right.numel() == 0;
}

}  // namespace

Pieces copies_in_product(const at::Tensor& left, const at::Tensor& right) {
  if (left.dim() != 2 || right.dim() != 2 || is_empty(left, right)) return {};
  const auto copied = [](const at::Tensor& matrix) {
    return matrix.is_contiguous() ? matrix.is_conj() : is_copied(matrix, 1, 0);
  };
  return copies_of(right, copied(right), left, copied(left));
}

// A result of one column each is such columns as it lies.
Pieces copies_in_batched_product(const at::Tensor& left, const at::Tensor& right) {
  if (left.dim() != 3 || right.dim() != 3 || is_empty(left, right)) return {};
  const bool transposed = right.size(2) > 1;
  const std::int64_t fast = transposed ? 2 : 1, slow = transposed ? 1 : 2;
  const bool copies_left = is_copied(left, fast, slow), copies_right = is_copied(right, fast, slow);
  return transposed ? copies_of(right, copies_right, left, copies_left)
                    : copies_of(left, copies_left, right, copies_right);
}

}  // namespace tidemark::phantom
