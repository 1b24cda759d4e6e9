// Several files at once: execution traces go to their profiler's traces, the rest are ranks.
#pragma once

#include <vector>

#include "tidemark/cli/input.h"

namespace tidemark::cli {

// Each as `first` is to be read. Execution traces among the files are joined to the others, one to
// one in their order, where there are as many; alone they are files as others are. Throws
// Error(BadArgument) for some that nobody can pair.
std::vector<Input> pair_up(const Input& first, const std::vector<std::string>& more);

}  // namespace tidemark::cli
