// Families of convolutions, each with its rule.
//
// Tensor cores read channels-last tensors whose channels come in fours (float) or eights (half). So
// a convolution of planes copies what it reads and writes, and one of channels-last tensors what
// has to be padded:
//
//   planes           | x, channels last | w | y |   written last, then copied back
//   channels last    nothing, or the padded ones
//
// A gradient of weights is a sum over all positions. Where its matrix has fewer tiles than the GPU
// has multiprocessors, the sum is split between them, and each part has a matrix of floats.
#include "tidemark/libtorch/phantom/cuda/convolution_workspace.h"

#include <algorithm>
#include <optional>

#include "tidemark/engine/base/rounding.h"

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kFloatBytes = 4;
constexpr std::int64_t kTile = 128, kNarrowTile = 64;  // of a matrix product, in elements
constexpr std::int64_t kSmallMap = 64;                 // positions: the largest seen is 7 × 7
constexpr std::int64_t kLargeMap = 784;                // 28 × 28
constexpr std::int64_t kLargePatch = 8;
constexpr std::int64_t kSmallKernel = 25;  // taps: 4 × 4 were seen to be small, 7 × 7 are not

std::int64_t divided_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

// The sizes of a call's three tensors, and what the families below ask about it.
struct ConvolutionCall {
  ConvolutionCall(ConvolutionPart part_, const Convolution& c_) : c(c_), part(part_) {}

  const Convolution& c;
  const ConvolutionPart part;
  const bool half = c.number != ConvolutionNumber::Float;
  const std::int64_t itemsize = half ? 2 : 4;
  const std::int64_t group_inputs = c.inputs / c.groups, group_outputs = c.outputs / c.groups;
  const std::int64_t x = x_of(c.inputs), y = y_of(c.outputs), w = w_of(c.inputs, c.outputs);
  const std::int64_t w_floats = w / itemsize * kFloatBytes;

  std::int64_t x_of(std::int64_t channels) const {
    return c.batch * channels * c.input_positions * itemsize;
  }
  std::int64_t y_of(std::int64_t channels) const {
    return c.batch * channels * c.output_positions * itemsize;
  }
  std::int64_t w_of(std::int64_t inputs, std::int64_t outputs) const {
    return outputs * (inputs / c.groups) * c.taps * itemsize;
  }
  bool is_forward() const { return part == ConvolutionPart::Forward; }
  bool is_of_weights() const { return part == ConvolutionPart::WeightGradient; }
};

// Parts of a sum over all positions, in floats. A part is at least so long:
std::int64_t shortest_part(const ConvolutionCall& call) {
  const bool is_product = call.c.taps == 1;
  return call.half ? (is_product ? 1280 : 4096) : (is_product ? 192 : 896);
}

std::int64_t split_sum(const ConvolutionCall& call) {
  if (!call.is_of_weights()) return 0;
  const std::int64_t rows = call.group_outputs, columns = call.group_inputs * call.c.taps;
  const std::int64_t width = rows <= kNarrowTile ? kNarrowTile : kTile;
  const std::int64_t tiles = divided_up(rows, kTile) * divided_up(columns, width);
  const std::int64_t processors = call.c.multiprocessors;
  const std::int64_t parts = call.c.batch * call.c.output_positions / shortest_part(call);
  // More than half of the processors have a tile; the tiles that the others share are kept.
  if (!call.half && tiles <= processors && 2 * tiles > processors && parts >= 4)
    return processors / 2 * kTile * kTile * kFloatBytes;
  const std::int64_t splits = std::min(processors / tiles, parts);
  return splits < 2 ? 0 : splits * rows * columns * kFloatBytes;
}

// One channel in, one out: kernels of their own, but for gradients of weights.
std::int64_t of_depthwise(const ConvolutionCall& call) {
  const Convolution& c = call.c;
  if (!call.is_of_weights()) return 0;
  const bool is_large = c.output_positions >= kLargeMap;
  if (!c.channels_last) {
    const bool by_cudnn = c.number == ConvolutionNumber::Half && c.stride == 1 && c.kernel <= 5;
    return by_cudnn && is_large ? call.x + call.w + call.y : 0;
  }
  if (call.half) return 8 * c.batch * call.w_floats;
  return c.kernel > 5 && is_large ? 4 * (call.x + call.y) : 0;  // each channel as four
}

// Images cut into patches: a matrix product over images whose channels are padded, twice.
std::int64_t of_patches(const ConvolutionCall& call, std::int64_t padded, std::int64_t planes) {
  const bool is_large = call.c.kernel >= kLargePatch;
  if (call.half) return is_large || call.is_of_weights() ? 2 * padded + planes : 0;
  if (call.is_of_weights()) return is_large ? 2 * padded : 0;
  return is_large || call.c.channels_last ? call.x + call.w + (is_large ? planes : 0) : 0;
}

bool is_flat(const Convolution& c) { return c.taps <= c.kernel * c.kernel; }

// Kernels for float16 read channels in fours, those for bfloat16 in eights.
std::int64_t of_half_images(const ConvolutionCall& call, bool has_large_kernel,
                            std::int64_t planes) {
  const Convolution& c = call.c;
  const bool in_eights = c.number == ConvolutionNumber::BFloat16;
  const bool as_it_lies = in_eights && c.channels_last && c.stride == 1;
  if (!has_large_kernel && c.inputs != 4 && !as_it_lies) return 0;
  if (in_eights && !is_flat(c)) return 0;
  const std::int64_t channels = rounded_up(c.inputs, in_eights ? 8 : 4);
  if (c.channels_last && channels == c.inputs) return 0;
  return call.x_of(channels) + call.w_of(channels, c.outputs) + planes;
}

// In eights, but for a large kernel of float16 with a long sum: that reads fours.
std::int64_t of_half_image_weights(const ConvolutionCall& call, bool has_large_kernel,
                                   std::int64_t padded) {
  constexpr std::int64_t kLongSum = 128 * 1024;  // positions of all images
  const Convolution& c = call.c;
  const bool in_fours = has_large_kernel && is_flat(c) && c.number == ConvolutionNumber::Half &&
                        c.batch * c.output_positions >= kLongSum;
  return in_fours ? padded : 2 * padded;
}

// Images as they come: one to four channels, in float up to seven.
std::int64_t of_images(const ConvolutionCall& call) {
  const Convolution& c = call.c;
  const std::int64_t channels = rounded_up(c.inputs, 4);
  const std::int64_t padded = call.x_of(channels) + call.w_of(channels, c.outputs);
  const std::int64_t planes = c.channels_last ? 0 : call.y;
  const bool has_large_kernel = c.taps > kSmallKernel, is_cut = c.stride >= c.kernel;
  if (is_cut && call.part != ConvolutionPart::InputGradient)
    return of_patches(call, padded, planes);
  if (call.half) {
    if (call.is_forward()) return of_half_images(call, has_large_kernel, planes);
    if (call.is_of_weights())
      return of_half_image_weights(call, has_large_kernel, padded) + planes + split_sum(call);
    return is_cut && !c.channels_last ? 0 : 2 * padded + planes;
  }
  if (call.is_forward()) {
    if (c.channels_last) return call.x + call.w;
    return has_large_kernel ? call.x + call.w + call.y : 0;
  }
  if (call.is_of_weights())
    return c.inputs % 4 != 0 && (has_large_kernel || c.outputs >= 256) ? padded + call.y : 0;
  if (!c.channels_last) return 0;
  return c.stride > 1 ? call.x + call.w + call.y : padded;
}

std::int64_t of_tensor_cores(const ConvolutionCall& call) {
  const Convolution& c = call.c;
  const std::int64_t multiple = c.groups > 1 ? 1 : call.half ? 8 : 4;
  const std::int64_t inputs = rounded_up(c.inputs, multiple);
  const std::int64_t outputs = rounded_up(c.outputs, multiple);
  const bool is_narrow =
      call.is_of_weights() && !call.half && c.groups > 1 && call.group_inputs <= 32;
  const bool copies = !c.channels_last || is_narrow;
  const bool pads_inputs = inputs != c.inputs, pads_outputs = outputs != c.outputs;
  std::int64_t bytes = split_sum(call);
  if (copies || pads_inputs) bytes += call.x_of(inputs);
  if (copies || pads_outputs) bytes += call.y_of(outputs);
  // A kernel of one tap lies the same both ways.
  if ((!c.channels_last && c.taps > 1) || pads_inputs || pads_outputs)
    bytes += call.w_of(inputs, outputs);
  return bytes;
}

// One product for each image keeps few processors busy, and each for long: the sum over all
// positions is split between all of them instead.
bool are_few_and_long(const ConvolutionCall& call) {
  constexpr std::int64_t kLong = 10000, kFew = 16;  // positions; one in so many processors
  const std::int64_t tiles = divided_up(call.c.outputs, kTile) * divided_up(call.c.inputs, kTile);
  return call.c.output_positions >= kLong && kFew * call.c.batch * tiles < call.c.multiprocessors;
}

// A kernel of one tap over planes is a matrix product of each image as it lies.
std::int64_t of_products(const ConvolutionCall& call) {
  if (call.is_of_weights() && are_few_and_long(call)) return of_tensor_cores(call);
  const std::int64_t copies = call.x + call.y;
  if (call.is_of_weights()) return std::min(call.c.batch * call.w_floats, copies + split_sum(call));
  const std::int64_t positions = call.c.input_positions;
  return positions > 1 && positions < kSmallMap ? copies : 0;
}

// Kernels for floats that cuDNN prefers to the common ones, all of 3 × 3 taps.
bool is_by_tiles(const ConvolutionCall& call) {
  const Convolution& c = call.c;
  const bool is_of_images = c.outputs == 2 || c.outputs == 3;
  return !c.channels_last && c.stride == 1 && is_of_images && c.inputs >= 256;
}

// Winograd's tiles: 6 × 6 numbers for 4 × 4 positions.
std::int64_t of_tiles(const ConvolutionCall& call) {
  const Convolution& c = call.c;
  const std::int64_t tiles = c.batch * divided_up(c.output_positions, 16);
  return 36 * kFloatBytes * (tiles * (c.inputs + c.outputs) + c.inputs * c.outputs);
}

bool is_by_frequencies(const ConvolutionCall& call) {
  const Convolution& c = call.c;
  const bool fits = c.output_positions >= 196 && c.output_positions <= 1024 && c.batch >= 64;
  const bool pays = c.output_positions <= 256 || c.inputs >= kTile || c.inputs * c.outputs <= 1024;
  return !c.channels_last && c.stride == 1 && c.inputs >= 32 && c.outputs >= 32 &&
         c.outputs <= 64 && fits && pays;
}

// Fourier transforms of planes with their border, of which half the numbers, complex ones, are
// kept; twice. The output's planes are copied, too.
std::int64_t of_frequencies(const ConvolutionCall& call) {
  const std::int64_t side = call.c.input_positions <= 30 * 30 ? 32 : 64;
  const std::int64_t plane = 2 * side * (side / 2 + 1) * 2 * kFloatBytes;
  return call.c.batch * (call.c.inputs + call.c.outputs) * plane + call.y;
}

std::optional<std::int64_t> of_float_weights(const ConvolutionCall& call) {
  const Convolution& c = call.c;
  if (c.inputs <= 16 && c.outputs >= kTile) return 0;
  if (is_by_tiles(call)) return of_tiles(call);
  if (is_by_frequencies(call)) return of_frequencies(call);
  const bool is_narrow = c.outputs <= 16 && c.inputs % 64 != 0;
  if (c.channels_last && (is_narrow || (c.inputs <= 16 && c.outputs <= 64)))
    return call.x + call.w + call.y + split_sum(call);
  return std::nullopt;
}

// What is written needs no copy where it is much, or where a stride leaves little of it.
std::optional<std::int64_t> of_float_forward(const ConvolutionCall& call) {
  const Convolution& c = call.c;
  if (c.channels_last) {
    const bool is_steep = c.stride > 1 && c.outputs >= 2048 && c.batch * c.output_positions >= 512;
    return is_steep ? std::optional(call.x + call.w) : std::nullopt;
  }
  if (c.inputs <= 16 && c.outputs <= 32) return 0;
  return c.inputs <= 64 && c.outputs > c.inputs ? std::optional(call.x + call.w) : std::nullopt;
}

// A stride over one tap: what is written needs no copy, unless many inputs are read.
bool skips_positions(const ConvolutionCall& call) {
  const Convolution& c = call.c;
  return call.is_forward() && c.taps == 1 && c.stride > 1 && !c.channels_last &&
         c.inputs <= 2 * kTile;
}

std::optional<std::int64_t> of_float(const ConvolutionCall& call) {
  if (call.half || call.c.groups > 1) return std::nullopt;
  if (skips_positions(call)) return call.x + call.w;
  if (call.c.taps != 9) return std::nullopt;
  if (call.is_forward()) return of_float_forward(call);
  return call.is_of_weights() ? of_float_weights(call) : std::nullopt;
}

}  // namespace

std::int64_t convolution_workspace(ConvolutionPart part, const Convolution& c) {
  if (c.batch <= 0 || c.input_positions <= 0 || c.output_positions <= 0 || c.groups <= 0 ||
      c.inputs < c.groups || c.outputs < c.groups)
    return 0;
  const ConvolutionCall call(part, c);
  if (c.groups > 1 && call.group_inputs == 1) return of_depthwise(call);
  if (c.groups == 1 && c.inputs < (call.half ? 5 : 8)) return of_images(call);
  if (c.taps == 1 && c.stride == 1 && !c.channels_last) return of_products(call);
  return of_float(call).value_or(of_tensor_cores(call));
}

}  // namespace tidemark::phantom
