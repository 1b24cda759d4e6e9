// Reads gradients of tables, puts by index, and searches for the largest from their calls.
#include <ATen/Context.h>

#include <algorithm>

#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"
#include "tidemark/libtorch/phantom/cuda/scratch_bytes.h"
#include "tidemark/libtorch/phantom/cuda/sort_scratch.h"

namespace tidemark::phantom {
namespace {

RowSums row_sums(const at::Tensor& gradient, const at::Tensor& indices, std::int64_t rows,
                 bool by_frequency) {
  RowSums sums;
  const auto item = static_cast<std::int64_t>(gradient.itemsize());
  sums.indices = indices.numel();
  sums.index_bytes = static_cast<std::int64_t>(indices.itemsize());
  sums.table_rows = rows;
  sums.row_length = gradient.size(-1);
  sums.accumulator_bytes = std::max<std::int64_t>(item, 4);
  sums.table_bytes = rows * sums.row_length * item;
  sums.by_frequency = by_frequency;
  return sums;
}

// What is said of the places that an index_put writes to.
struct Places {
  std::int64_t indices = 1;  // all index tensors, broadcast
  std::int64_t indexed = 1;  // elements of the dimensions with an index
  std::int64_t slice = 1;    // of those behind the last one
  bool known = false;
};

void broadcast(std::array<std::int64_t, 12>& shape, const at::Tensor& index, bool& known) {
  const auto count = static_cast<std::size_t>(index.dim());
  known = known && count <= shape.size();
  for (std::size_t i = 0; known && i < count; ++i)
    shape[i] = std::max(shape[i], index.size(-1 - static_cast<std::int64_t>(i)));
}

Places read_places(const at::Tensor& table, const c10::IValue& list) {
  Places places;
  std::array<std::int64_t, 12> shape;
  shape.fill(1);
  std::int64_t dimension = 0;
  bool known = true, any = false;
  for (const c10::IValue& one : list.toListRef()) {
    if (dimension >= table.dim()) return {};
    if (one.isTensor() && one.toTensor().defined()) {
      broadcast(shape, one.toTensor(), known);
      places.indexed *= table.size(dimension);
      places.slice = 1;
      any = true;
    } else {
      places.slice *= table.size(dimension);
    }
    ++dimension;
  }
  for (; dimension < table.dim(); ++dimension) places.slice *= table.size(dimension);
  for (const std::int64_t side : shape) places.indices *= side;
  places.known = known && any && places.indexed > 0 && places.slice > 0;
  return places;
}

}  // namespace

Scratch scratch_of_embedding_gradient(const CallFrame& frame) {
  constexpr std::int64_t kUnsorted = 3072;  // indices that one kernel goes through without a sort
  const at::Tensor& gradient = frame.arg(0).toTensor();
  const at::Tensor& indices = frame.arg(1).toTensor();
  const bool by_frequency = frame.arg(4).toBool();
  const Scratch straight = bytes_to_straighten(gradient) + bytes_to_straighten(indices);
  if (indices.numel() <= kUnsorted && !by_frequency) return straight.then_results(0);
  return straight +
         row_sums_scratch(row_sums(gradient, indices, frame.arg(2).toInt(), by_frequency));
}

Scratch scratch_of_bag_gradient(const CallFrame& frame) {
  constexpr std::int64_t kMaximum = 2;
  const at::Tensor& gradient = frame.arg(0).toTensor();
  const at::Tensor& indices = frame.arg(1).toTensor();
  const bool sorts = frame.arg(8).toInt() != kMaximum && indices.numel() > 0;
  return bytes_to_straighten(gradient) +
         (sorts ? row_sums_scratch(
                      row_sums(gradient, indices, frame.arg(6).toInt(), frame.arg(7).toBool()))
                : 0);
}

// Rows that are added, or have to come in order, are sorted by where they go.
Scratch scratch_of_index_put(const CallFrame& frame) {
  const bool sorts = frame.arg(3).toBool() || at::globalContext().deterministicAlgorithms();
  if (!sorts || !frame.arg(1).isList()) return 0;
  const at::Tensor& table = frame.arg(0).toTensor();
  const at::Tensor& values = frame.arg(2).toTensor();
  const Places places = read_places(table, frame.arg(1));
  if (!places.known || places.indices == 0 || table.numel() == 0) return 0;
  const std::int64_t wanted = table.numel() / places.indexed * places.indices;
  const bool copies = values.numel() != wanted || !values.is_contiguous();
  return Scratch(copies ? in_blocks(wanted * static_cast<std::int64_t>(values.itemsize())) : 0) +
         bytes_to_straighten(table) +
         index_put_scratch(places.indices, table.numel() / places.slice);
}

// sort(self, dimension, descending), or with `stable` before the dimension.
Scratch scratch_of_sort(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(0).toTensor();
  const std::size_t place = frame.arg(1).isInt() ? 1 : 2;
  if (input.dim() == 0 || input.numel() == 0 || frame.count() <= place) return 0;
  const std::int64_t given = frame.arg(place).toInt();
  const std::int64_t dimension = given < 0 ? given + input.dim() : given;
  const std::int64_t length = input.size(dimension);
  return sort_scratch({input.numel() / length, length, static_cast<std::int64_t>(input.itemsize()),
                       dimension == input.dim() - 1 && input.is_contiguous()});
}

Scratch scratch_of_topk(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(0).toTensor();
  if (input.dim() == 0 || input.numel() == 0) return 0;
  const std::int64_t length = input.size(frame.arg(2).toInt());
  return bytes_to_straighten(input) + topk_scratch(input.numel() / length, length,
                                                   static_cast<std::int64_t>(input.itemsize()),
                                                   virtual_gpus().model().multiprocessors);
}

}  // namespace tidemark::phantom
