// The amounts that cuDNN's kernels take: copies of tensors, parts of a sum, transformed tiles.
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
#pragma once

#include <cstdint>

#include "tidemark/libtorch/phantom/cuda/convolution_workspace.h"

namespace tidemark::phantom {

// What is taken beside copies, and what its three numbers mean.
enum class More : std::uint8_t {
  kNone,
  kTimes,         // the matrix of weights in floats, `a` times
  kTiles,         // `a` tiles of 128 × 128 floats
  kBatch,         // the matrix, `a` times for each image
  kHalfOfTiles,   // a tile for every second processor
  kPartsOfTiles,  // the matrix for each part: `a` times the processors over tiles of `b` × `c`
  kWholeTiles,    // the same parts, each of whole tiles
  kSplit,         // the matrix for each part, none of them short
  kFrequencies,   // planes of `a` × `a` numbers transformed, `b` times; the weights' too with `c`
  kWinograd,      // tiles of `a` × `a` positions and their border
  kColumns,       // all patches of one image, or of all with `a`
};

struct Amount {
  std::uint8_t inputs, outputs, weights;           // so many copies of each,
  std::uint8_t input_pad, output_pad, weight_pad;  // with channels to a multiple of this
  More more;
  std::uint16_t a, b, c;
};

std::int64_t bytes_of(const Amount& amount, const Convolution& convolution);

}  // namespace tidemark::phantom
