// Reads sums, means and norms from their calls.
#include <algorithm>
#include <cmath>
#include <optional>

#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"
#include "tidemark/libtorch/phantom/cuda/reduction_scratch.h"
#include "tidemark/libtorch/phantom/cuda/scratch_bytes.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

// Of the architectures that PyTorch is built for.
std::int64_t threads_of_multiprocessor(const GpuModel& gpu) {
  if (gpu.major == 7 && gpu.minor == 5) return 1024;
  const bool small = (gpu.major == 8 && gpu.minor > 0) || gpu.major == 12;
  return small ? 1536 : 2048;
}

Reduction reduction_of(const at::ScalarType type) {
  Reduction r;
  const GpuModel& gpu = virtual_gpus().model();
  r.item_bytes = static_cast<std::int64_t>(at::elementSize(type));
  r.accumulator_bytes = std::max<std::int64_t>(r.item_bytes, 4);
  r.multiprocessors = gpu.multiprocessors;
  r.threads_of_multiprocessor = threads_of_multiprocessor(gpu);
  return r;
}

// Nothing, or an empty list, is every dimension.
bool is_summed(const c10::IValue* dimensions, std::int64_t dimension, std::int64_t count) {
  if (!dimensions || !dimensions->isIntList()) return true;
  const c10::List<std::int64_t> list = dimensions->toIntList();
  if (list.empty()) return true;
  return std::any_of(list.begin(), list.end(),
                     [&](std::int64_t one) { return (one < 0 ? one + count : one) == dimension; });
}

// False where a dimension is empty.
bool add_sides(Reduction& r, const at::Tensor& input, const c10::IValue* dimensions) {
  for (std::int64_t i = input.dim(); i-- > 0;) {
    const Side side{input.size(i), input.stride(i)};
    if (side.size == 0) return false;
    (is_summed(dimensions, i, input.dim()) ? r.summed : r.kept).add(side);
  }
  return true;
}

Scratch scratch_of_reduction(const at::Tensor& input, const c10::IValue* dimensions,
                             at::ScalarType result) {
  const at::ScalarType given = input.scalar_type();
  if (input.dim() > static_cast<std::int64_t>(Sides::kMost) || at::isComplexType(result)) return 0;
  // Numbers of another type than the result's are copied to that type first; only halves are not,
  // to be summed to floats.
  const bool as_it_is =
      given == result || ((given == at::kHalf || given == at::kBFloat16) && result == at::kFloat);
  Reduction r = reduction_of(as_it_is ? given : result);
  r.offset = as_it_is ? input.storage_offset() : 0;
  if (!add_sides(r, input, dimensions)) return 0;
  return Scratch(as_it_is ? 0 : in_blocks(input.numel() * r.item_bytes)) + reduction_scratch(r);
}

// Mean, sum of squares and two counts, one of them in the type of the mean. Each load brings two
// elements, to spare registers.
Scratch scratch_of_variance_in(Reduction r, const at::Tensor& input,
                               const c10::IValue& dimensions) {
  r.accumulator_bytes *= 4;
  r.inputs_of_load = 2;
  return add_sides(r, input, &dimensions) ? reduction_scratch(r) : Scratch(0);
}

at::ScalarType type_asked_for(const c10::IValue& asked, at::ScalarType otherwise) {
  return asked.isInt() ? asked.toScalarType() : otherwise;
}

}  // namespace

// sum(self, dtype), sum(self, dims, keepdim, dtype), each with an `out` or not.
Scratch scratch_of_sum(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(0).toTensor();
  const bool has_dimensions = frame.count() >= 4;
  if (has_dimensions && !frame.arg(1).isIntList() && !frame.arg(1).isNone()) return 0;
  const bool integral = at::isIntegralType(input.scalar_type(), /*includeBool=*/true);
  return scratch_of_reduction(input, has_dimensions ? &frame.arg(1) : nullptr,
                              type_asked_for(frame.arg(has_dimensions ? 3 : 1),
                                             integral ? at::kLong : input.scalar_type()));
}

Scratch scratch_of_vector_norm(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(0).toTensor();
  return scratch_of_reduction(input, &frame.arg(2),
                              type_asked_for(frame.arg(4), input.scalar_type()));
}

// max(self, dimension, keepdim), and min: partial answers are a value and where it stands.
Scratch scratch_of_extreme(const CallFrame& frame) {
  constexpr std::int64_t kValueAndPlace = 16;
  const at::Tensor& input = frame.arg(0).toTensor();
  if (frame.count() < 3 || !frame.arg(1).isInt() || input.dim() == 0 ||
      input.dim() > static_cast<std::int64_t>(Sides::kMost))
    return 0;
  const c10::IValue dimension(c10::List<std::int64_t>({frame.arg(1).toInt()}));
  Reduction r = reduction_of(input.scalar_type());
  r.accumulator_bytes = kValueAndPlace;
  r.offset = input.storage_offset();
  return add_sides(r, input, &dimension) ? reduction_scratch(r) : Scratch(0);
}

// aminmax(self), of all elements as they follow each other: partial answers are two of them.
Scratch scratch_of_both_extremes(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(0).toTensor();
  if (!frame.arg(1).isNone() || input.numel() == 0) return 0;
  Reduction r = reduction_of(input.scalar_type());
  r.accumulator_bytes = 2 * r.item_bytes;
  r.summed.add({input.numel(), 1});
  return bytes_to_straighten(input) + reduction_scratch(r);
}

// std.correction(self, dimensions, correction, keepdim), and so on.
Scratch scratch_of_variance(const CallFrame& frame) {
  const at::Tensor& input = frame.arg(0).toTensor();
  if (frame.count() < 4 || !at::isFloatingType(input.scalar_type()) ||
      input.dim() > static_cast<std::int64_t>(Sides::kMost))
    return 0;
  Reduction r = reduction_of(input.scalar_type());
  r.offset = input.storage_offset();
  return scratch_of_variance_in(r, input, frame.arg(1));
}

// Sums are floats, and numbers of other types are copied to floats first; only float16 is not.
Scratch scratch_of_variance_of_channels(const at::Tensor& input) {
  if (input.dim() > static_cast<std::int64_t>(Sides::kMost)) return 0;
  c10::List<std::int64_t> dimensions;
  for (std::int64_t i = 0; i < input.dim(); ++i)
    if (i != 1) dimensions.push_back(i);
  const bool is_copied = input.scalar_type() == at::kBFloat16;
  Reduction r = reduction_of(is_copied ? at::kFloat : input.scalar_type());
  r.offset = is_copied ? 0 : input.storage_offset();
  return Scratch(is_copied ? in_blocks(input.numel() * r.item_bytes) : 0) +
         scratch_of_variance_in(r, input, c10::IValue(dimensions));
}

// A partial norm for each chunk of the longest tensor, of every tensor; other norms than these go
// tensor by tensor, as do tensors of several types or that do not lie densely.
Workspaces of_norms_of_list(const CallFrame& frame) {
  constexpr std::int64_t kChunk = 65536;
  const c10::Scalar order = frame.arg(1).toScalar();
  const double power = order.isComplex() ? 0 : order.toDouble();
  if (!session_options().cuda_choices || !(power == 1 || power == 2 || std::isinf(power)))
    return {};
  std::int64_t tensors = 0, chunks = 0;
  std::optional<at::ScalarType> type;
  bool fast = true;
  for_each_tensor(frame.arg(0), [&](const at::Tensor& t) {
    if (!type) type = t.scalar_type();
    fast = fast && t.scalar_type() == *type && t.is_non_overlapping_and_dense();
    ++tensors;
    chunks = std::max(chunks, parts(t.numel(), kChunk));
  });
  if (!fast || !type || !at::isFloatingType(*type)) return {};
  const std::int64_t bytes = reduction_of(*type).accumulator_bytes;
  Workspaces workspaces;
  const auto partial = workspaces.pieces.take(tensors * chunks * bytes);
  for (std::int64_t i = 0; i < tensors; ++i) workspaces.pieces.add_result(i);
  workspaces.pieces.give_back(partial);
  return workspaces;
}

Scratch scratch_of_bias_gradient(const at::Tensor& gradient) {
  c10::List<std::int64_t> summed;
  for (std::int64_t i = 0; i < gradient.dim(); ++i)
    if (i != 1) summed.push_back(i);
  const c10::IValue dimensions(summed);
  return scratch_of_reduction(gradient, &dimensions, gradient.scalar_type());
}

Scratch scratch_of_adding_rows(std::int64_t rows, std::int64_t length, const at::Tensor& like) {
  Reduction r = reduction_of(like.scalar_type());
  r.summed.add({rows, length});
  r.kept.add({length, 1});
  return reduction_scratch(r);
}

}  // namespace tidemark::phantom
