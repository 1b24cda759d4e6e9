// Questions about values: answered from known bytes, else with a plausible value by the policy.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

bool answer_scalar(CallFrame& frame);   // .item(), bool(tensor)
bool answer_equal(CallFrame& frame);    // torch.equal
bool answer_no(CallFrame& frame);       // may cuDNN do it?
bool answer_aligned(CallFrame& frame);  // may a TransformerEncoder leave its padding out?
bool answer_nonzero(CallFrame& frame);  // how many are true?
bool answer_masked_select(CallFrame& frame);
bool answer_unique(CallFrame& frame);
bool answer_repeats(CallFrame& frame);  // repeat_interleave
bool answer_bincount(CallFrame& frame);
bool answer_histogram(CallFrame& frame);
bool answer_kept_boxes(CallFrame& frame);  // torchvision's nms: how many do not overlap?

// What this thread's program wrote to ask, such as "print()", for as long as it is answered:
// operators inside of it are told as this, once a line. Null: they are told by their own names.
const char* set_asked_as(const char* word);
// A question copies values to the host that nobody knows.
void note_if_asked(const CallFrame& frame);
// The question is about a CPU tensor over this storage, which may have such values.
void note_asked_of(const c10::StorageImpl& host);

// Ends loops that ask for ever: counts begin anew.
void reset_questions();

}  // namespace tidemark::phantom
