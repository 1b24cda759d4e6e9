// How large the storages of a recording are.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/dataflow/keys.h"

namespace tidemark::dataflow {

inline constexpr std::int64_t kUnknownBytes = -1;

// Bytes by key: what was allocated, else the furthest that any tensor reaches, offsets left out.
std::vector<std::int64_t> find_sizes(const Recording& recording, const Tree& tree, const Keys& keys,
                                     Diagnostics& diagnostics);

}  // namespace tidemark::dataflow
