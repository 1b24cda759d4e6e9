// Copies that Fourier transforms make of what they read.
//
// cuFFT is handed one dimension of signals, then those it transforms: the others are put in order
// of their strides, the largest first, and joined; where they do not join, the tensor is copied.
#include <algorithm>

#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"

namespace tidemark::phantom {
namespace {

// Of a tensor of these sizes and strides, all but the transformed dimensions.
bool signals_join(at::IntArrayRef sizes, at::IntArrayRef strides,
                  const c10::List<std::int64_t>& transformed) {
  c10::SmallVector<std::size_t, 6> others;
  const auto count = static_cast<std::int64_t>(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (std::none_of(transformed.begin(), transformed.end(), [&](std::int64_t one) {
          return (one < 0 ? one + count : one) == static_cast<std::int64_t>(i);
        }))
      others.push_back(i);
  std::sort(others.begin(), others.end(),
            [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  c10::SmallVector<std::int64_t, 6> other_sizes, other_strides;
  for (const std::size_t i : others) {
    other_sizes.push_back(sizes[i]);
    other_strides.push_back(strides[i]);
  }
  return can_be_joined(other_sizes, other_strides);
}

}  // namespace

bool can_be_joined(at::IntArrayRef sizes, at::IntArrayRef strides) {
  std::int64_t outer = 0;  // the stride of the last dimension that has one
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (outer != 0 && outer != sizes[i] * strides[i]) return false;
    outer = strides[i];
  }
  return true;
}

Scratch scratch_of_fft(const CallFrame& frame) {
  const at::Tensor& signal = frame.arg(0).toTensor();
  const bool joins = signals_join(signal.sizes(), signal.strides(), frame.arg(1).toIntList());
  return joins ? 0 : static_cast<std::int64_t>(signal.nbytes());
}

// cuFFT overwrites what it makes real numbers of, so it is given a copy, which is contiguous.
Scratch scratch_of_fft_to_real(const CallFrame& frame) {
  const at::Tensor& signal = frame.arg(0).toTensor();
  c10::SmallVector<std::int64_t, 6> strides(static_cast<std::size_t>(signal.dim()), 1);
  for (std::size_t i = strides.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<std::int64_t>(signal.sizes()[i], 1);
  const bool joins = signals_join(signal.sizes(), strides, frame.arg(1).toIntList());
  return Scratch::times(joins ? 1 : 2, static_cast<std::int64_t>(signal.nbytes()));
}

}  // namespace tidemark::phantom
