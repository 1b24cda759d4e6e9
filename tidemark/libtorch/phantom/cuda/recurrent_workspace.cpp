// Sums of a few terms, each a tensor that the algorithm needs; the factors were measured.
#include "tidemark/libtorch/phantom/cuda/recurrent_workspace.h"

#include <algorithm>

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kStreamBytes = std::int64_t{8} << 20;  // cuBLAS's, for each layer's stream
constexpr std::int64_t kAlignment = 256;

std::int64_t gates(RecurrentMode mode) {
  return mode == RecurrentMode::Lstm ? 4 : mode == RecurrentMode::Gru ? 3 : 1;
}
bool has_no_gates(RecurrentMode mode) {
  return mode == RecurrentMode::Relu || mode == RecurrentMode::Tanh;
}

// The weights' matrices, which are copied.
std::int64_t matrix_elements(const RecurrentNet& net) {
  const std::int64_t output = net.output(), directions = net.directions();
  const std::int64_t first = net.input + output, others = directions * output + output;
  const std::int64_t of_gates = gates(net.mode) * net.hidden * (first + (net.layers - 1) * others);
  return directions * (of_gates + net.layers * net.projection * net.hidden);
}

// One layer in half precision whose shapes suit it stays on the multiprocessors from step to step.
bool is_persistent(const RecurrentNet& net) {
  return net.mode == RecurrentMode::Lstm && net.itemsize == 2 && !net.is_bfloat16 &&
         !net.is_packed && net.layers == 1 && !net.bidirectional && net.projection == 0 &&
         net.hidden <= 1024 && net.hidden % 128 == 0 && net.input % 128 == 0 && net.batch % 16 == 0;
}

// So does a small net without gates.
bool is_small(const RecurrentNet& net) {
  return has_no_gates(net.mode) && !net.is_bfloat16 && net.hidden <= 384;
}

// Elements of a token, in one direction only.
std::int64_t one_way(const RecurrentNet& net) {
  const std::int64_t h = net.hidden, i = net.input;
  const bool is_deep = net.layers > 1;
  if (net.mode == RecurrentMode::Lstm) return 5 * h + i + (is_deep && net.drops ? h : 0);
  if (!is_deep) return 4 * h + (net.trains ? 2 * i : i);
  const std::int64_t waves = 3 * h + 2 * i + h / 4;
  if (has_no_gates(net.mode)) return waves;
  return net.drops ? 5 * h + i : std::max(4 * h + i, waves);
}

std::int64_t both_ways(const RecurrentNet& net) {
  const std::int64_t h = net.hidden, i = net.input;
  const bool is_deep = net.layers > 1;
  if (net.mode == RecurrentMode::Lstm) return 14 * h + i;
  if (net.mode == RecurrentMode::Gru) return 12 * h + (is_deep && net.trains ? 2 * i : i);
  return (is_deep ? 12 * h : 10 * h) + 2 * i;
}

// Packed sequences need no copies of what goes in and out.
std::int64_t packed_factor(const RecurrentNet& net) {
  const std::int64_t count = gates(net.mode);
  if (net.bidirectional) return 2 * count + 4;
  return count + (net.layers > 1 && net.drops ? 1 : 0);
}

std::int64_t token_elements(const RecurrentNet& net) {
  if (net.is_packed) return packed_factor(net) * net.hidden;
  const std::int64_t plain = net.bidirectional ? both_ways(net) : one_way(net);
  if (is_persistent(net)) return plain + 16 * net.hidden;
  if (!is_small(net)) return plain;
  return plain + (net.layers > 1 && !net.bidirectional ? 10 : 9) * net.hidden;
}

// States, of each layer and direction.
std::int64_t state_factor(const RecurrentNet& net) {
  const std::int64_t one = net.mode == RecurrentMode::Lstm ? 6 : 3;
  const std::int64_t turned = net.bidirectional ? 2 : 0;
  if (net.is_packed) return one + turned;
  return one + turned + (net.mode == RecurrentMode::Lstm ? 4 : 2);
}

}  // namespace

std::int64_t recurrent_workspace(const RecurrentNet& net) {
  const std::int64_t cells = net.layers * net.directions();
  const std::int64_t elements = net.tokens * token_elements(net) + matrix_elements(net) +
                                state_factor(net) * cells * net.batch * net.hidden;
  return elements * net.itemsize + cells * kStreamBytes;
}

std::int64_t recurrent_reserve(const RecurrentNet& net) {
  const std::int64_t kept = net.mode == RecurrentMode::Lstm  ? 5
                            : net.mode == RecurrentMode::Gru ? 6
                                                             : 1;
  const std::int64_t projected = net.projection > 0 ? net.hidden + net.projection : 0;
  const std::int64_t of_layers = net.layers * (kept * net.hidden + projected);
  const std::int64_t between = (net.layers - 1) * net.hidden;
  const std::int64_t directions = net.directions();
  // A bit of dropout's mask for each number that goes from one layer to the next.
  const std::int64_t mask_bits =
      net.drops ? directions * directions * (net.layers - 1) * net.output() * net.padded_tokens : 0;
  return directions * net.tokens * (of_layers + between) * net.itemsize + mask_bits / 8 +
         kAlignment;
}

}  // namespace tidemark::phantom
