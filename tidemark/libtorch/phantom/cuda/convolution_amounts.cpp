// Computes the bytes of an amount for one convolution.
#include "tidemark/libtorch/phantom/cuda/convolution_amounts.h"

#include <algorithm>

#include "tidemark/engine/base/rounding.h"
#include "tidemark/libtorch/phantom/cuda/scratch_bytes.h"

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kFloatBytes = 4;
constexpr std::int64_t kTile = 128, kNarrowTile = 64;  // of a matrix product, in elements

// The sizes of a call's three tensors, and of the matrix product that it is.
struct Sizes {
  explicit Sizes(const Convolution& convolution) : c(convolution) {}

  const Convolution& c;
  const std::int64_t itemsize = c.number == ConvolutionNumber::Float ? 4 : 2;
  const std::int64_t group_outputs = c.outputs / c.groups;
  const std::int64_t columns = c.inputs / c.groups * c.taps;
  const std::int64_t positions = c.batch * c.output_positions;
  const std::int64_t matrix = c.outputs * columns * kFloatBytes;

  // Groups are not padded.
  std::int64_t padded(std::int64_t channels, std::int64_t pad) const {
    return c.groups > 1 ? channels : rounded_up(channels, pad);
  }
  std::int64_t inputs(std::int64_t pad) const {
    return c.batch * padded(c.inputs, pad) * c.input_positions * itemsize;
  }
  std::int64_t outputs(std::int64_t pad) const {
    return c.batch * padded(c.outputs, pad) * c.output_positions * itemsize;
  }
  std::int64_t weights(std::int64_t pad) const {
    return padded(c.outputs, pad) * (padded(c.inputs, pad) / c.groups) * c.taps * itemsize;
  }
  std::int64_t tiles(std::int64_t rows, std::int64_t wide) const {
    return parts(group_outputs, rows) * parts(columns, wide);
  }
};

// Parts of a sum over all positions, in floats. A part is at least so long:
std::int64_t shortest_part(const Convolution& c) {
  const bool is_product = c.taps == 1;
  if (c.number == ConvolutionNumber::Float) return is_product ? 192 : 896;
  return is_product ? 1280 : 4096;
}

std::int64_t split_sum(const Sizes& s) {
  const std::int64_t tiles = s.tiles(kTile, s.group_outputs <= kNarrowTile ? kNarrowTile : kTile);
  const std::int64_t splits =
      std::min(s.c.multiprocessors / tiles, s.positions / shortest_part(s.c));
  return splits < 2 ? 0 : splits * s.matrix;
}

// Of transformed planes half the numbers, complex ones, are kept.
std::int64_t frequencies(const Amount& amount, const Convolution& c) {
  const std::int64_t planes = c.batch * (c.inputs + c.outputs) + amount.c * c.inputs * c.outputs;
  return planes * amount.b * amount.a * (amount.a / 2 + 1) * 2 * kFloatBytes;
}

std::int64_t winograd(std::int64_t side, const Convolution& c) {
  const std::int64_t tiles = c.batch * parts(c.output_positions, side * side);
  const std::int64_t numbers = (side + 2) * (side + 2) * kFloatBytes;
  return numbers * (tiles * (c.inputs + c.outputs) + c.inputs * c.outputs);
}

std::int64_t more(const Amount& amount, const Sizes& s) {
  const std::int64_t a = amount.a, processors = s.c.multiprocessors;
  switch (amount.more) {
    case More::kNone: return 0;
    case More::kTimes: return a * s.matrix;
    case More::kTiles: return a * kTile * kTile * kFloatBytes;
    case More::kBatch: return a * s.c.batch * s.matrix;
    case More::kHalfOfTiles: return processors / 2 * kTile * kTile * kFloatBytes;
    case More::kPartsOfTiles: {
      const std::int64_t splits = a * processors / s.tiles(amount.b, amount.c);
      return splits < 2 ? 0 : splits * s.matrix;
    }
    case More::kWholeTiles: {
      const std::int64_t tiles = s.tiles(amount.b, amount.c);
      const std::int64_t splits = std::max<std::int64_t>(a * processors / tiles, 1);
      return splits * tiles * amount.b * amount.c * kFloatBytes;
    }
    case More::kSplit: return split_sum(s);
    case More::kFrequencies: return frequencies(amount, s.c);
    case More::kWinograd: return winograd(a, s.c);
    case More::kColumns:
      return (a ? s.c.batch : 1) * s.c.groups * s.columns * s.c.output_positions * s.itemsize;
  }
  return 0;
}

}  // namespace

std::int64_t bytes_of(const Amount& amount, const Convolution& convolution) {
  const Sizes s(convolution);
  return amount.inputs * s.inputs(amount.input_pad) +
         amount.outputs * s.outputs(amount.output_pad) +
         amount.weights * s.weights(amount.weight_pad) + more(amount, s);
}

}  // namespace tidemark::phantom
