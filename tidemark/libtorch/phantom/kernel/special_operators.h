// Operators that shapes alone cannot answer, each with its own small function.
#pragma once

#include <string_view>

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// True when the frame now has results; false to go the common way.
using SpecialOperator = bool (*)(CallFrame& frame);

// Gives results, made the common way, values that are plausible where none are known.
using PlausibleValues = void (*)(CallFrame& frame, const std::vector<c10::IValue>& args);

// Null for an operator without one. The name is without overload: "aten::nonzero".
SpecialOperator find_special(std::string_view name);
PlausibleValues find_plausible(std::string_view name);

}  // namespace tidemark::phantom
