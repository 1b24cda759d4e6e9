// Walks a tree to the amount that a convolution takes.
//
// Which kernel does a convolution, cuDNN's heuristics decide, and no rule of a few lines follows
// them. So an H200 was asked what 559 518 convolutions take, of all kinds and sizes, and a tree for
// each part, kind of number and order of tensors learned which amount it is
// (bench/truth/fit_convolutions.py).
#include "tidemark/libtorch/phantom/cuda/convolution_workspace.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "tidemark/libtorch/phantom/cuda/convolution_amounts.h"

namespace tidemark::phantom {
namespace {

// Where a feature is not above the limit, the next node follows, else the one with this number.
// Without a feature it is a leaf, and the number an amount's.
struct Node {
  std::uint16_t number;
  std::int8_t feature = -1;
  float limit = 0;
};

#include "tidemark/libtorch/phantom/cuda/convolution_trees.inc"

constexpr const Node* kTrees[3][2][2] = {
    {{kForwardFloatPlanes, kForwardFloatChannelsLast},
     {kForwardHalfPlanes, kForwardHalfChannelsLast}},
    {{kInputGradientFloatPlanes, kInputGradientFloatChannelsLast},
     {kInputGradientHalfPlanes, kInputGradientHalfChannelsLast}},
    {{kWeightGradientFloatPlanes, kWeightGradientFloatChannelsLast},
     {kWeightGradientHalfPlanes, kWeightGradientHalfChannelsLast}},
};

constexpr std::size_t kFeatures = 23;
using Features = std::array<float, kFeatures>;

// The largest power of two in a number of channels, as far as kernels ask.
double multiple(std::int64_t channels) {
  return static_cast<double>(std::min<std::int64_t>(channels & -channels, 64));
}

// In the order of FEATURES in bench/truth/fit_convolutions.py, where they were learned.
Features features_of(const Convolution& c) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  const double sum = number(c.batch) * number(c.output_positions);
  const double columns = number(c.inputs / c.groups) * number(c.taps);
  const std::array<double, kFeatures> features = {
      number(c.number),
      number(c.batch),
      number(c.inputs),
      number(c.outputs),
      number(c.groups),
      number(c.input_positions),
      number(c.output_positions),
      number(c.taps),
      number(c.kernel),
      number(c.least_kernel),
      number(c.stride),
      number(c.dilation),
      number(c.padding),
      number(c.sides),
      number(c.least_input_side),
      number(c.least_output_side),
      sum,
      columns,
      number(c.inputs) * number(c.input_positions) /
          (number(c.outputs) * number(c.output_positions)),
      multiple(c.inputs),
      multiple(c.outputs),
      sum * columns * number(c.outputs),
      sum / columns,
  };
  Features rounded;
  std::transform(features.begin(), features.end(), rounded.begin(),
                 [](double feature) { return static_cast<float>(feature); });
  return rounded;
}

}  // namespace

std::int64_t convolution_workspace(ConvolutionPart part, const Convolution& c) {
  if (c.batch <= 0 || c.input_positions <= 0 || c.output_positions <= 0 || c.groups <= 0 ||
      c.inputs < c.groups || c.outputs < c.groups || c.taps <= 0)
    return 0;
  const Features features = features_of(c);
  const bool is_half = c.number != ConvolutionNumber::Float;
  const Node* const tree = kTrees[static_cast<std::size_t>(part)][is_half][c.channels_last];
  const Node* node = tree;
  while (node->feature >= 0)
    node = features[static_cast<std::size_t>(node->feature)] <= node->limit ? node + 1
                                                                            : tree + node->number;
  return bytes_of(kAmounts[node->number], c);
}

}  // namespace tidemark::phantom
