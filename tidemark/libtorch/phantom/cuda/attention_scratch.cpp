// What gradients of fused attention take: sums in floats for the queries' gradient.
#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"
#include "tidemark/libtorch/phantom/cuda/scratch_bytes.h"

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kFloat = 4;

// Heads of all sequences.
std::int64_t heads_of(const at::Tensor& query) { return query.size(0) * query.size(1); }

// Does it lie by sequence, position, head, as the kernel reads it?
bool lies_by_position(const at::Tensor& tensor) {
  constexpr std::array<std::int64_t, 4> kOrder = {3, 1, 2, 0};
  std::int64_t stride = 1;
  for (const std::int64_t dimension : kOrder) {
    if (tensor.size(dimension) != 1 && tensor.stride(dimension) != stride) return false;
    stride *= tensor.size(dimension);
  }
  return true;
}

}  // namespace

// A gradient of the queries in floats, and a number for each query. Where several heads of queries
// share a head of keys, each of them has gradients of keys and values of its own, to be added.
std::int64_t scratch_of_cudnn_attention_gradient(const CallFrame& frame) {
  const at::Tensor& query = frame.arg(1).toTensor();
  const at::Tensor& key = frame.arg(2).toTensor();
  const at::Tensor& value = frame.arg(3).toTensor();
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4) return 0;
  constexpr std::int64_t kCounters = 512;
  const std::int64_t heads = heads_of(query), item = static_cast<std::int64_t>(query.itemsize());
  const std::int64_t shared = query.size(1) == key.size(1)
                                  ? 0
                                  : in_blocks(heads * key.size(2) * key.size(3) * item) +
                                        in_blocks(heads * key.size(2) * value.size(3) * item);
  return in_blocks(heads * query.size(2) * (query.size(3) + 1) * kFloat) + shared + kCounters;
}

// In floats, each block of 64 queries by 64 columns is summed by several that wait for each other.
std::int64_t scratch_of_efficient_attention_gradient(const CallFrame& frame) {
  const at::Tensor& gradient = frame.arg(0).toTensor();
  const at::Tensor& query = frame.arg(1).toTensor();
  if (query.dim() != 4 || gradient.dim() != 4) return 0;
  constexpr std::int64_t kSide = 64, kLock = 16;
  const std::int64_t heads = heads_of(query), queries = query.size(2);
  const std::int64_t blocks = parts(queries, kSide) * parts(query.size(3), kSide);
  const bool sums = query.scalar_type() == at::kFloat;
  return in_blocks(heads * queries * kFloat) +
         (sums ? in_blocks(heads * blocks * (kSide * kSide * kFloat + kLock)) : 0) +
         (lies_by_position(gradient)
              ? 0
              : in_blocks(gradient.numel() * static_cast<std::int64_t>(gradient.itemsize())));
}

}  // namespace tidemark::phantom
