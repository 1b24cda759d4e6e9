// The type and shape of what an operator made, out of its call's signature.
#pragma once

#include <string>

#include "tidemark/engine/tape/tables.h"

namespace tidemark {

// "bf16[8,1024]": the result of the call whose size is so many bytes; empty where the signature
// names no results ("(…) -> bf16[8,1024], i64[8]"), or none of that size.
std::string shape_of_result(const Tables& tables, CallId call, std::int64_t bytes);

}  // namespace tidemark
