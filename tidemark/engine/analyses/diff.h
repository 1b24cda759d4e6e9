// Two tapes side by side: what grew, by category, scope and operator.
#pragma once

#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/diff.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

struct DiffOptions : Selection {
  std::size_t top = 10;  // how many scopes and operators
};

DiffAnswer find_diff(const Tape& before, const Tape& after, const DiffOptions& options = {});

}  // namespace tidemark
