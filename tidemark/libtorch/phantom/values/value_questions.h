// Questions about values: answered from known bytes, else with a plausible value by the policy.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

bool answer_scalar(CallFrame& frame);   // .item(), bool(tensor)
bool answer_equal(CallFrame& frame);    // torch.equal
bool answer_no(CallFrame& frame);       // may cuDNN do it?
bool answer_nonzero(CallFrame& frame);  // how many are true?
bool answer_masked_select(CallFrame& frame);
bool answer_unique(CallFrame& frame);
bool answer_repeats(CallFrame& frame);  // repeat_interleave
bool answer_bincount(CallFrame& frame);
bool answer_histogram(CallFrame& frame);
bool answer_kept_boxes(CallFrame& frame);  // torchvision's nms: how many do not overlap?

// Ends loops that ask for ever: counts begin anew.
void reset_questions();

}  // namespace tidemark::phantom
