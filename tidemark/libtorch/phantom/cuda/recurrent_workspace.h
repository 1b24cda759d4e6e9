// What cuDNN takes for a recurrent net: its workspace, and what it keeps for the backward.
#pragma once

#include <cstdint>

namespace tidemark::phantom {

enum class RecurrentMode : std::uint8_t { Relu, Tanh, Lstm, Gru };  // as cuDNN numbers them

struct RecurrentNet {
  RecurrentMode mode = RecurrentMode::Lstm;
  std::int64_t input = 0, hidden = 0, projection = 0, layers = 1;  // no projection: 0
  std::int64_t batch = 0;
  std::int64_t tokens = 0;         // of all sequences
  std::int64_t padded_tokens = 0;  // as if all were as long as the longest
  std::int64_t itemsize = 4;
  bool bidirectional = false, is_packed = false;
  bool trains = true, drops = false;  // what trains may drop
  bool is_bfloat16 = false;

  std::int64_t directions() const { return bidirectional ? 2 : 1; }
  std::int64_t output() const { return projection > 0 ? projection : hidden; }
};

// Lives inside the forward, and twice inside the backward.
std::int64_t recurrent_workspace(const RecurrentNet& net);
// Lives from the forward to the backward's end.
std::int64_t recurrent_reserve(const RecurrentNet& net);

}  // namespace tidemark::phantom
