// What memory-efficient attention takes beside its results, of dense tensors and of jagged ones.
//
// A block of threads works on a tile, so many queries by so many keys. Gradients of the queries are
// added up by the blocks of all keys, in floats: a buffer of a tile, and a lock, for each tile of
// queries. Large heads in half precision do not fit into registers: their output, and gradients of
// keys and values, are added up in memory, too.
#include <algorithm>

#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kSumBytes = 4;

struct EfficientCall {
  at::Tensor query, value;
  // Rows are the queries of all parts of a batch; of a jagged tensor the longest part is told.
  std::int64_t batches, heads, rows, queries, keys;

  std::int64_t head_size() const { return query.size(3); }
  std::int64_t value_size() const { return value.size(3); }
  std::int64_t largest() const { return std::max(head_size(), value_size()); }
  bool is_float() const { return query.scalar_type() == at::kFloat; }
};

struct Tile {
  std::int64_t queries, keys;
  bool is_in_registers;  // what keys and values get
};

// The shared memory of the chips for data centres has room for larger ones.
Tile tile_of(const EfficientCall& call) {
  const GpuModel& gpu = virtual_gpus().model();
  const bool has_room = gpu.major == 9 || gpu.major == 10 || (gpu.major == 8 && gpu.minor == 0);
  const bool is_half = !call.is_float();
  if (call.largest() <= 64) return {64, 64, is_half};
  if (!has_room) return {64, 64, false};
  if (call.largest() > 128) return {128, 64, false};
  return is_half ? Tile{128, 128, true} : Tile{128, 64, false};
}

// Into how many parts the keys are split that add up gradients in memory of their own.
std::int64_t key_splits(const EfficientCall& call, const Tile& tile) {
  constexpr std::int64_t kEnough = 256, kMost = 200;
  const auto& context = at::globalContext();
  if (context.deterministicAlgorithms() && !context.deterministicAlgorithmsWarnOnly()) return 1;
  const std::int64_t heads = call.batches * call.heads;
  if (heads >= kEnough && call.keys <= 2 * tile.keys) return 1;
  return std::max<std::int64_t>(1, std::min(parts(call.keys, tile.keys), kMost / heads));
}

// Of all heads.
std::int64_t sum_bytes(const EfficientCall& call) {
  constexpr std::int64_t kLock = 4, kAlignment = 4;  // in floats
  const Tile tile = tile_of(call);
  const auto columns = [&](std::int64_t size) { return parts(size, tile.queries) * tile.queries; };
  const bool in_memory = !call.is_float() && !tile.is_in_registers;
  const std::int64_t keys_and_values =
      in_memory ? key_splits(call, tile) * tile.keys *
                      (columns(call.head_size()) + columns(call.value_size()))
                : 0;
  const std::int64_t of_queries = parts(call.queries, tile.queries) *
                                  parts(call.head_size(), tile.keys) *
                                  (tile.queries * tile.keys + kLock);
  return call.batches * call.heads * parts(keys_and_values + of_queries, kAlignment) * kAlignment *
         kSumBytes;
}

// After the results.
Workspaces of_output(const EfficientCall& call) {
  const std::int64_t positions = call.rows * call.query.size(0) * call.heads;
  Workspaces workspaces;
  if (!call.is_float() && call.largest() > 128)
    workspaces.pieces.add_brief(positions * call.value_size() * kSumBytes);
  return workspaces;
}

// The gradient as the kernel reads it; for floats its product with the output, whose sums by query
// are then laid out by head; and what several blocks add up.
Workspaces of_gradients(const EfficientCall& call, const at::Tensor& gradient, bool is_straight) {
  constexpr std::int64_t kResults = 4;
  const std::int64_t sum = call.query.size(0) * call.heads * call.rows * kSumBytes;
  const std::int64_t of_float = call.is_float() ? 1 : 0;
  const std::int64_t is_copied = call.heads > 1 && call.rows > 1 ? of_float : 0;
  Workspaces workspaces;
  Pieces& pieces = workspaces.pieces;
  const auto copy = pieces.take(is_straight ? 0 : static_cast<std::int64_t>(gradient.nbytes()));
  for (std::int64_t i = 0; i < kResults; ++i) pieces.add_result(i);
  const auto product = pieces.take(of_float * gradient.numel() * kSumBytes);
  const auto sums = pieces.take(is_copied * sum);
  const auto by_head = pieces.take(sum);
  pieces.give_back(sums);
  pieces.give_back(product);
  const auto shared = pieces.take(sum_bytes(call));
  for (const auto& one : {by_head, shared, copy}) pieces.give_back(one);
  return workspaces;
}

// Tensors by sequence, head, position.
EfficientCall dense_call(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  return {query, value, query.size(0), query.size(1), query.size(2), query.size(2), key.size(2)};
}

// Tensors by sequence, position, head; of jagged ones there is one sequence, and it is told where
// its parts end and how long the longest are, of queries and of keys.
EfficientCall told_call(const CallFrame& frame, std::size_t query, std::size_t ends) {
  const at::Tensor q = frame.arg(query).toTensor(), key = frame.arg(query + 1).toTensor(),
                   value = frame.arg(query + 2).toTensor();
  const std::int64_t rows = q.size(1);
  const c10::IValue& told = frame.arg(ends);
  if (!told.isTensor() || !told.toTensor().defined())
    return {q, value, q.size(0), q.size(2), rows, rows, key.size(1)};
  return {q,
          value,
          told.toTensor().size(0) - 1,
          q.size(2),
          rows,
          frame.arg(ends + 2).toInt(),
          frame.arg(ends + 3).toInt()};
}

bool has_four_dimensions_each(const CallFrame& frame, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i)
    if (frame.arg(i).toTensor().dim() != 4) return false;
  return session_options().cuda_choices;
}

}  // namespace

Workspaces of_efficient_attention(const CallFrame& frame) {
  if (!has_four_dimensions_each(frame, 0, 3)) return {};
  return of_output(
      dense_call(frame.arg(0).toTensor(), frame.arg(1).toTensor(), frame.arg(2).toTensor()));
}

Workspaces of_efficient_attention_gradient(const CallFrame& frame) {
  if (!has_four_dimensions_each(frame, 0, 4)) return {};
  const at::Tensor& gradient = frame.arg(0).toTensor();
  return of_gradients(
      dense_call(frame.arg(1).toTensor(), frame.arg(2).toTensor(), frame.arg(3).toTensor()),
      gradient, gradient.transpose(1, 2).is_contiguous());
}

Workspaces of_efficient_attention_by_position(const CallFrame& frame) {
  constexpr std::size_t kEnds = 4;
  return has_four_dimensions_each(frame, 0, 3) ? of_output(told_call(frame, 0, kEnds))
                                               : Workspaces();
}

Workspaces of_efficient_attention_gradient_by_position(const CallFrame& frame) {
  constexpr std::size_t kEnds = 6;
  if (!has_four_dimensions_each(frame, 0, 4)) return {};
  const at::Tensor& gradient = frame.arg(0).toTensor();
  return of_gradients(told_call(frame, 1, kEnds), gradient, gradient.is_contiguous());
}

}  // namespace tidemark::phantom
