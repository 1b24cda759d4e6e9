// A step of nn.LSTMCell and nn.GRUCell: kernels that CUDA alone has, or that meta tensors know by
// half.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

bool answer_lstm_cell(CallFrame& frame);
bool answer_gru_cell(CallFrame& frame);
bool answer_gru_cell_backward(CallFrame& frame);

}  // namespace tidemark::phantom
