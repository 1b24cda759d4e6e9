// The shape by the two ranks; rows padded to the sixteen bytes that the tensor cores load.
#include "tidemark/libtorch/phantom/cuda/grouped_matmul.h"

#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kRowAlignment = 16;

std::vector<std::int64_t> result_sizes(const at::Tensor& a, const at::Tensor& b,
                                       const c10::IValue& offsets) {
  const std::int64_t rows = a.size(-2), columns = b.size(-1);
  if (a.dim() == 3 && b.dim() == 3) return {a.size(0), rows, columns};
  if (a.dim() == 2 && b.dim() == 2) return {offsets.toTensor().size(0), rows, columns};
  return {rows, columns};
}

}  // namespace

bool answer_grouped_matmul(CallFrame& frame) {
  const at::Tensor a = frame.arg(0).toTensor(), b = frame.arg(1).toTensor();
  if (a.scalar_type() == at::kBFloat16) return false;
  const auto sizes = result_sizes(a, b, frame.arg(2));
  const auto itemsize = static_cast<std::int64_t>(a.itemsize());
  const std::int64_t step = kRowAlignment / itemsize;
  const std::int64_t padded = (sizes.back() + step - 1) / step * step;
  std::vector<std::int64_t> strides{padded, 1};
  if (sizes.size() == 3) strides.insert(strides.begin(), sizes[1] * padded);
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) elements += (sizes[i] - 1) * strides[i];
  if (c10::multiply_integers(sizes) == 0) elements = 0;
  at::Tensor result = make_phantom(new_storage(frame.device().index(), elements * itemsize),
                                   a.dtype(), {sizes, strides, 0});
  frame.drop_args();
  frame.push(std::move(result));
  return true;
}

}  // namespace tidemark::phantom
