// Reads what a tape's meta says of its run; docs/formats/tape.md lists the keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidemark/engine/answers/run.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// What does not read is taken as not said.
RunFacts find_run_facts(const Tape& tape);

// What PyTorch's allocator of a GPU has counted at its highest, of a run that was recorded there.
struct CountedBytes {
  std::int64_t allocated = 0, reserved = 0;
};
std::optional<CountedBytes> counted_on(const Tables& tables, const std::string& device);

}  // namespace tidemark
