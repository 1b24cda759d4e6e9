// Which setting of the caching allocator is worth having: a run under each of the useful ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/alloc.h"

namespace tidemark {

struct AllocOptions : Selection {
  std::vector<std::string> settings;         // to compare; none: the useful ones
  std::optional<std::int64_t> memory_bytes;  // of the GPU, instead of what the tape says
};

// Throws Error(BadArgument) for settings that cannot be read, Error(NotFound) for a device or step
// that the tape does not have.
AllocAnswer find_alloc(const Tape& tape, const AllocOptions& options = {});

}  // namespace tidemark
