// What gradients of fused attention take: sums in floats for the queries' gradient.
#include <algorithm>

#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kFloat = 4, kMostSplits = 128;

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

// Where several heads of queries share a head of keys, each of them has gradients of keys and
// values of its own, to be added.
std::int64_t scratch_of_shared_keys(const at::Tensor& query, const at::Tensor& key,
                                    const at::Tensor& value) {
  if (query.size(1) == key.size(1)) return 0;
  const auto item = static_cast<std::int64_t>(query.itemsize());
  const std::int64_t rows = heads_of(query) * key.size(2);
  return in_blocks(rows * key.size(3) * item) + in_blocks(rows * value.size(3) * item);
}

// Columns of a head as the flash kernels count them.
std::int64_t flash_columns(const at::Tensor& query) {
  const std::int64_t size = query.size(3), multiple = size <= 128 ? 32 : 64;
  return parts(size, multiple) * multiple;
}

// Into how many parts a flash kernel splits the keys, so that all processors have work: the fewest
// that keep them nearly as busy as any number would.
std::int64_t flash_splits(const at::Tensor& query, const at::Tensor& key) {
  constexpr double kFull = 0.8, kNearly = 0.85;
  constexpr std::int64_t kQueries = 64;
  const std::int64_t keys = query.size(3) <= 64 ? 256 : query.size(3) <= 128 ? 128 : 64;
  const std::int64_t places = 2 * virtual_gpus().model().multiprocessors;
  const std::int64_t work = heads_of(query) * parts(query.size(2), kQueries);
  const std::int64_t blocks = parts(key.size(2), keys),
                     most = std::min({kMostSplits, places, blocks});
  if (static_cast<double>(work) >= kFull * static_cast<double>(places)) return 1;
  const auto busy = [&](std::int64_t splits) {
    const bool as_before = splits > 1 && parts(blocks, splits) == parts(blocks, splits - 1);
    return as_before ? 0.0
                     : static_cast<double>(work * splits) /
                           static_cast<double>(parts(work * splits, places) * places);
  };
  double best = 0;
  for (std::int64_t splits = 1; splits <= most; ++splits) best = std::max(best, busy(splits));
  for (std::int64_t splits = 1; splits <= most; ++splits)
    if (busy(splits) >= kNearly * best) return splits;
  return 1;
}

}  // namespace

// A gradient of the queries in floats, and a number for each query.
Scratch scratch_of_cudnn_attention_gradient(const CallFrame& frame) {
  const at::Tensor& query = frame.arg(1).toTensor();
  const at::Tensor& key = frame.arg(2).toTensor();
  const at::Tensor& value = frame.arg(3).toTensor();
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4) return 0;
  constexpr std::int64_t kCounters = 512;
  return Scratch(heads_of(query) * query.size(2) * (query.size(3) + 1) * kFloat) +
         scratch_of_shared_keys(query, key, value) + kCounters;
}

// A result in floats and a number for each query, of each part of the keys.
Scratch scratch_of_flash_attention(const CallFrame& frame) {
  const at::Tensor& query = frame.arg(0).toTensor();
  const at::Tensor& key = frame.arg(1).toTensor();
  if (query.dim() != 4 || key.dim() != 4 || frame.arg(3).toDouble() > 0) return 0;
  const std::int64_t splits = flash_splits(query, key);
  const std::int64_t rows = splits * heads_of(query) * query.size(2);
  return splits < 2 ? Scratch(0) : Scratch(rows * flash_columns(query) * kFloat) + rows * kFloat;
}

// As cuDNN's, in whole blocks of 128 queries.
Scratch scratch_of_flash_attention_gradient(const CallFrame& frame) {
  constexpr std::int64_t kQueries = 128;
  const at::Tensor& query = frame.arg(1).toTensor();
  const at::Tensor& key = frame.arg(2).toTensor();
  const at::Tensor& value = frame.arg(3).toTensor();
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4) return 0;
  const std::int64_t rows = heads_of(query) * parts(query.size(2), kQueries) * kQueries;
  return Scratch(rows * flash_columns(query) * kFloat) + rows * kFloat +
         scratch_of_shared_keys(query, key, value);
}

// The gradient as the kernel reads it; for floats its product with the output, whose sums by query
// are then laid out by head; and blocks of 64 queries by 64 columns, each summed by several that
// wait for each other.
Workspaces of_efficient_attention_gradient(const CallFrame& frame) {
  const at::Tensor& gradient = frame.arg(0).toTensor();
  const at::Tensor& query = frame.arg(1).toTensor();
  if (!session_options().cuda_choices || query.dim() != 4 || gradient.dim() != 4) return {};
  constexpr std::int64_t kSide = 64, kLock = 16, kResults = 4;
  const std::int64_t heads = heads_of(query), queries = query.size(2);
  const std::int64_t blocks = parts(queries, kSide) * parts(query.size(3), kSide);
  const std::int64_t is_float = query.scalar_type() == at::kFloat ? 1 : 0;
  const auto itemsize = static_cast<std::int64_t>(gradient.itemsize());
  Workspaces workspaces;
  Pieces& pieces = workspaces.pieces;
  const auto copy = pieces.take(lies_by_position(gradient) ? 0 : gradient.numel() * itemsize);
  for (std::int64_t i = 0; i < kResults; ++i) pieces.add_result(i);
  const auto product = pieces.take(is_float * gradient.numel() * kFloat);
  const auto sums = pieces.take(is_float * heads * queries * kFloat);
  const auto by_head = pieces.take(heads * queries * kFloat);
  pieces.give_back(sums);
  pieces.give_back(product);
  const auto shared = pieces.take(is_float * heads * blocks * (kSide * kSide * kFloat + kLock));
  for (const auto& one : {by_head, shared, copy}) pieces.give_back(one);
  return workspaces;
}

}  // namespace tidemark::phantom
