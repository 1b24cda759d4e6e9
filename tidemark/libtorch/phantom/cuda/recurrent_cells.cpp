// What autograd needs again is kept in one tensor: four gates of an LSTM, five numbers for each
// unit of a GRU. Biases may be missing.
#include "tidemark/libtorch/phantom/cuda/recurrent_cells.h"

#include <ATen/ATen.h>

#include <array>

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kLstmGates = 4, kGruGates = 3, kGruKept = 5;

void expect_sizes(const at::Tensor& of_input, const at::Tensor& of_hidden, const at::Tensor& hidden,
                  std::int64_t gates) {
  TORCH_CHECK(of_input.dim() == 2 && of_input.sizes() == of_hidden.sizes(),
              "The gates of the input, ", of_input.sizes(), ", and those of the hidden state, ",
              of_hidden.sizes(), ", differ in size.");
  TORCH_CHECK(hidden.dim() == 2 && hidden.numel() * gates == of_input.numel(), "The hidden state, ",
              hidden.sizes(), ", does not fit gates of size ", of_input.sizes(), ".");
}

}  // namespace

bool answer_lstm_cell(CallFrame& frame) {
  if (frame.has_out()) return false;
  const at::Tensor gates = frame.arg(0).toTensor(), cell = frame.arg(2).toTensor();
  expect_sizes(gates, frame.arg(1).toTensor(), cell, kLstmGates);
  const at::Tensor kept = new_phantom(gates, gates.sizes());
  const at::Tensor hidden = new_phantom(cell, cell.sizes());
  return frame.answer({hidden, new_phantom(cell, cell.sizes()), kept});
}

bool answer_gru_cell(CallFrame& frame) {
  if (frame.has_out()) return false;
  const at::Tensor before = frame.arg(2).toTensor();
  expect_sizes(frame.arg(0).toTensor(), frame.arg(1).toTensor(), before, kGruGates);
  const at::Tensor kept = new_phantom(before, {before.size(0), kGruKept * before.size(1)});
  return frame.answer({new_phantom(before, before.sizes()), kept});
}

bool answer_gru_cell_backward(CallFrame& frame) {
  if (frame.has_out()) return false;
  const at::Tensor gradient = frame.arg(0).toTensor();
  const std::array<std::int64_t, 2> gates{gradient.size(0), kGruGates * gradient.size(1)};
  const at::Tensor of_input = new_phantom(gradient, gates);
  const at::Tensor of_hidden = new_phantom(gradient, gates);
  const at::Tensor before = new_phantom(gradient, gradient.sizes());
  at::Tensor input_bias, hidden_bias;
  if (frame.arg(2).toBool()) {
    input_bias = at::sum(of_input, 0);
    hidden_bias = at::sum(of_hidden, 0);
  }
  return frame.answer({of_input, of_hidden, before, input_bias, hidden_bias});
}

}  // namespace tidemark::phantom
