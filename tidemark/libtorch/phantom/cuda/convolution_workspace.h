// What cuDNN takes for itself inside a convolution, told from its shapes: trees fitted to an H200.
#pragma once

#include <cstdint>

namespace tidemark::phantom {

enum class ConvolutionPart : std::uint8_t { Forward, InputGradient, WeightGradient };

// In double precision nothing is known to be taken.
enum class ConvolutionNumber : std::uint8_t { Float, Half, BFloat16 };

// A convolution that is not transposed; a transposed one is its input gradient, read backwards.
// Of what each side has its own, the longest counts: the sides of a kernel, strides and so on.
struct Convolution {
  std::int64_t batch = 0, inputs = 0, outputs = 0, groups = 1;  // channels
  std::int64_t input_positions = 1, output_positions = 1;       // of one image and channel
  std::int64_t least_input_side = 1, least_output_side = 1;
  std::int64_t taps = 1;                      // all of a kernel
  std::int64_t kernel = 1, least_kernel = 1;  // its longest side, its shortest
  std::int64_t stride = 1, dilation = 1, padding = 0;
  std::int64_t sides = 0;
  ConvolutionNumber number = ConvolutionNumber::Float;
  bool channels_last = false;
  std::int64_t multiprocessors = 132;
};

std::int64_t convolution_workspace(ConvolutionPart part, const Convolution& convolution);

}  // namespace tidemark::phantom
