// Seeded stand-ins for values nobody can know; always assumed, never known.
#pragma once

#include <vector>

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// Indices of topk, sort, argmax, multinomial: made_up_indices.h.
void give_indices(CallFrame& frame, const std::vector<c10::IValue>& args);
void give_false(CallFrame& frame, const std::vector<c10::IValue>& args);
// Of a tensor compared with itself, or with infinity: numbers are taken to be finite.
void give_equal(CallFrame& frame, const std::vector<c10::IValue>& args);
void give_unequal(CallFrame& frame, const std::vector<c10::IValue>& args);
// Whether a number is less, or greater, than infinity.
void give_below(CallFrame& frame, const std::vector<c10::IValue>& args);
void give_above(CallFrame& frame, const std::vector<c10::IValue>& args);
void give_true(CallFrame& frame, const std::vector<c10::IValue>& args);

// Of two vectors in a descent (an optimizer that asks how its slope changes): one, as if it went
// on.
void give_curvature(CallFrame& frame, const std::vector<c10::IValue>& args);
// Whether this thread is in a descent; what it was before.
bool set_in_descent(bool in_descent);

}  // namespace tidemark::phantom
