// What norms of layers, groups and batches take: copies in order, and partial sums.
#include <algorithm>

#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"
#include "tidemark/libtorch/phantom/cuda/scratch_bytes.h"

namespace tidemark::phantom {
namespace {

std::int64_t accumulator_bytes(const at::Tensor& tensor) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(tensor.itemsize()), 4);
}

// Many short rows: each block adds 32 of them up, for the gradients of weight and bias; then these
// sums are added, the one after the other.
Scratch scratch_of_weight_gradients(const at::Tensor& input, std::int64_t length,
                                    std::int64_t gradients) {
  constexpr std::int64_t kMany = 65536, kWidth = 32, kRows = 32, kMostBlocks = 32768;
  const std::int64_t rows = length > 0 ? input.numel() / length : 0;
  if (gradients == 0 || rows <= kMany ||
      length / kWidth >= virtual_gpus().model().multiprocessors / 2)
    return 0;
  const std::int64_t blocks = std::min(kMostBlocks / parts(length, kWidth), parts(rows, kRows));
  return Scratch::times(gradients, blocks * length * static_cast<std::int64_t>(input.itemsize())) +
         scratch_of_adding_rows(blocks, length, input);
}

// Gradient, input and the shape of a row come first in both kinds of norms.
Scratch scratch_of_row_norm_gradient(const CallFrame& frame, std::int64_t gradients) {
  const at::Tensor& input = frame.arg(1).toTensor();
  std::int64_t length = 1;
  for (const std::int64_t side : frame.arg(2).toIntList()) length *= side;
  return (bytes_to_straighten(frame.arg(0).toTensor()) + bytes_to_straighten(input))
      .then_results(scratch_of_weight_gradients(input, length, gradients));
}

}  // namespace

Scratch scratch_of_layer_norm(const CallFrame& frame) {
  return bytes_to_straighten(frame.arg(0).toTensor()).then_results(0);
}

Scratch scratch_of_layer_norm_gradient(const CallFrame& frame) {
  const auto wanted = frame.arg(7).toBoolList();
  return scratch_of_row_norm_gradient(frame, wanted.get(1) + wanted.get(2));
}

Scratch scratch_of_rms_norm_gradient(const CallFrame& frame) {
  return scratch_of_row_norm_gradient(frame, frame.arg(5).toBoolList().get(1));
}

// Factor and summand of each channel of each image, where there is a weight or a bias.
Scratch scratch_of_group_norm(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(0).toTensor();
  const std::int64_t channels = frame.arg(3).toInt() * frame.arg(4).toInt();
  const auto is_there = [&](std::size_t i) {
    return frame.arg(i).isTensor() && frame.arg(i).toTensor().defined();
  };
  const std::int64_t numbers = is_there(1) || is_there(2) ? 2 : 0;
  return bytes_to_straighten(input).then_results(
      Scratch::times(numbers, channels * accumulator_bytes(input)));
}

// Two sums and a factor of each channel of each image, and two factors of each group.
Scratch scratch_of_group_norm_gradient(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(1).toTensor();
  const std::int64_t images = frame.arg(5).toInt(), bytes = accumulator_bytes(input);
  return bytes_to_straighten(frame.arg(0).toTensor()) + bytes_to_straighten(input) +
         Scratch::times(3, images * frame.arg(6).toInt() * bytes) +
         Scratch::times(2, images * frame.arg(8).toInt() * bytes);
}

// Where channels lie side by side, up to 128 blocks each take 256 rows at a time and leave four
// numbers for each channel. That kernel reads images; volumes in that order are reduced as any
// tensor is.
Scratch scratch_of_batch_norm(const CallFrame& frame) {
  constexpr std::int64_t kRows = 256, kMostBlocks = 128, kNumbers = 4, kCounters = 512;
  const at::Tensor& input = frame.arg(0).toTensor();
  if (!frame.arg(5).toBool() || input.dim() < 2 || input.numel() == 0) return 0;
  const bool in_rows = input.is_contiguous();
  if (!in_rows && !input.is_contiguous(at::MemoryFormat::ChannelsLast))
    return scratch_of_variance_of_channels(input);
  const std::int64_t channels = input.size(1), rows = input.numel() / channels;
  const bool side_by_side = input.stride(1) == 1 && (input.dim() == 2 || !in_rows);
  if (!side_by_side || rows <= kRows) return 0;
  const std::int64_t blocks = std::min(parts(rows, kRows), kMostBlocks);
  return Scratch(kNumbers * channels * blocks * accumulator_bytes(input)) + kCounters;
}

}  // namespace tidemark::phantom
