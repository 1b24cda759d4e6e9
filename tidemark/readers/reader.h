// One kind of file: how it is told from others, and how it becomes a tape or why it does not.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tidemark/engine/tape/tape.h"
#include "tidemark/readers/candidate.h"
#include "tidemark/readers/progress.h"

namespace tidemark {

// Values for the dimensions of a model, by name.
using Bindings = std::map<std::string, std::int64_t, std::less<>>;

struct InputOptions {
  Progress progress;
  Bindings dimensions;
  bool salvage = false;   // read a damaged trace up to the damage
  std::string companion;  // an execution trace of the same run as a profiler's trace
};

struct Reader {
  std::string_view name;  // after "this is": "an exported model"
  bool (*looks_like)(const Candidate& file);
  // Null for a kind that is known, but cannot be read.
  Tape (*read)(const Candidate& file, const InputOptions& options) = nullptr;
  // What to do with a file that cannot be read. FILE stands for its path.
  std::string_view instead = {};
};

}  // namespace tidemark
