// Recurrent nets as cuDNN runs them: one operator for a whole net, its weights in one buffer.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

bool answer_recurrent(CallFrame& frame);           // _cudnn_rnn
bool answer_recurrent_backward(CallFrame& frame);  // _cudnn_rnn_backward
// Puts the weights of a net into one new storage, as nn.LSTM asks on its way to the GPU.
bool flatten_weights(CallFrame& frame);  // _cudnn_rnn_flatten_weight

// Lets torch.lstm and its kin come to the operators above: a CPU build has no kernel for CUDA
// there. And back.
void install_recurrent_nets();
void remove_recurrent_nets();

}  // namespace tidemark::phantom
