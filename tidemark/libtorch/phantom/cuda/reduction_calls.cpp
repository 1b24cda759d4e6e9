// Reads sums, means and norms from their calls.
#include <algorithm>

#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"
#include "tidemark/libtorch/phantom/cuda/reduction_scratch.h"
#include "tidemark/libtorch/phantom/cuda/scratch_bytes.h"

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

Scratch scratch_of_reduction(const at::Tensor& input, const c10::IValue* dimensions,
                             at::ScalarType result) {
  const std::int64_t count = input.dim();
  const at::ScalarType given = input.scalar_type();
  if (count > static_cast<std::int64_t>(Sides::kMost) || at::isComplexType(result)) return 0;
  // Numbers of another type than the result's are copied to that type first; only halves are not,
  // to be summed to floats.
  const bool as_it_is =
      given == result || ((given == at::kHalf || given == at::kBFloat16) && result == at::kFloat);
  Reduction r = reduction_of(as_it_is ? given : result);
  r.offset = as_it_is ? input.storage_offset() : 0;
  for (std::int64_t i = count; i-- > 0;) {
    const Side side{input.size(i), input.stride(i)};
    if (side.size == 0) return 0;
    (is_summed(dimensions, i, count) ? r.summed : r.kept).add(side);
  }
  return Scratch(as_it_is ? 0 : in_blocks(input.numel() * r.item_bytes)) + reduction_scratch(r);
}

// False where a dimension is empty.
bool add_sides(Reduction& r, const at::Tensor& input, std::int64_t reduced) {
  for (std::int64_t i = input.dim(); i-- > 0;) {
    const Side side{input.size(i), input.stride(i)};
    if (side.size == 0) return false;
    (i == reduced ? r.summed : r.kept).add(side);
  }
  return true;
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
  const std::int64_t dimension = frame.arg(1).toInt();
  Reduction r = reduction_of(input.scalar_type());
  r.accumulator_bytes = kValueAndPlace;
  r.offset = input.storage_offset();
  return add_sides(r, input, dimension < 0 ? dimension + input.dim() : dimension)
             ? reduction_scratch(r)
             : Scratch(0);
}

Scratch scratch_of_adding_rows(std::int64_t rows, std::int64_t length, const at::Tensor& like) {
  Reduction r = reduction_of(like.scalar_type());
  r.summed.add({rows, length});
  r.kept.add({length, 1});
  return reduction_scratch(r);
}

}  // namespace tidemark::phantom
