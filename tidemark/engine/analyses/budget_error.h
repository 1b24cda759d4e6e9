// How far a budget may be off, by what is known of its parts.
#pragma once

#include <vector>

#include "tidemark/engine/answers/run.h"
#include "tidemark/engine/answers/verdict.h"

namespace tidemark {

inline constexpr const char* kContextPart = "CUDA context";

// The sum of what each part may be off: nothing where it was measured; where it was modelled, the
// worst that estimates were seen to be beside a real GPU; where it was assumed, what its reason
// says.
std::int64_t budget_error(const RunFacts& run, const std::vector<BudgetItem>& budget);

}  // namespace tidemark
