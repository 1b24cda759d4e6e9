// What flash attention and cuDNN's take beside results: sums in floats for the queries' gradient.
#include <algorithm>

#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kFloat = 4, kMostSplits = 128, kBlock = 128;

// Heads of all sequences.
std::int64_t heads_of(const at::Tensor& query) { return query.size(0) * query.size(1); }

// The kernel reads by sequence, position, head.
Scratch copy_by_position(const at::Tensor& by_head) {
  return bytes_to_straighten(by_head.transpose(1, 2));
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
std::int64_t flash_columns(std::int64_t head_size) {
  const std::int64_t multiple = head_size <= 128 ? 32 : 64;
  return parts(head_size, multiple) * multiple;
}

// For each query of a head a number, and its gradient in floats.
Scratch sums_of_flash_gradient(std::int64_t queries, std::int64_t head_size) {
  return Scratch(queries * kFloat) + queries * flash_columns(head_size) * kFloat;
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
  return splits < 2 ? Scratch(0)
                    : Scratch(rows * flash_columns(query.size(3)) * kFloat) + rows * kFloat;
}

// As cuDNN's, in whole blocks of 128 queries, after the gradient as the kernel reads it.
Scratch scratch_of_flash_attention_gradient(const CallFrame& frame) {
  const at::Tensor& gradient = frame.arg(0).toTensor();
  const at::Tensor& query = frame.arg(1).toTensor();
  const at::Tensor& key = frame.arg(2).toTensor();
  const at::Tensor& value = frame.arg(3).toTensor();
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4) return 0;
  return copy_by_position(gradient).then_results(
      sums_of_flash_gradient(heads_of(query) * parts(query.size(2), kBlock) * kBlock,
                             query.size(3)) +
      scratch_of_shared_keys(query, key, value));
}

// Of parts of many lengths, one after the other: each has a block more than fits. Position, head,
// and where the parts end; else sequence, position, head.
Scratch scratch_of_flash_attention_gradient_by_position(const CallFrame& frame) {
  const at::Tensor& gradient = frame.arg(0).toTensor();
  const at::Tensor& query = frame.arg(1).toTensor();
  const c10::IValue& ends = frame.arg(6);
  const bool is_jagged = ends.isTensor() && ends.toTensor().defined();
  if (query.dim() != (is_jagged ? 3 : 4)) return 0;
  const auto by_head = [&](std::size_t i) {
    const at::Tensor& tensor = frame.arg(i).toTensor();
    return (is_jagged ? tensor.unsqueeze(0) : tensor).transpose(1, 2);
  };
  const std::int64_t rows = is_jagged ? query.size(0) + kBlock * (ends.toTensor().size(0) - 1)
                                      : query.size(0) * parts(query.size(1), kBlock) * kBlock;
  return bytes_to_straighten(gradient).then_results(
      sums_of_flash_gradient(rows * query.size(-2), query.size(-1)) +
      scratch_of_shared_keys(by_head(1), by_head(2), by_head(3)));
}

}  // namespace tidemark::phantom
