// What each heading of a case prints: the report of its analysis at width 80, in bytes.
#pragma once

#include <string>

#include "tests/cases/runner/tapes.h"

namespace tidemark::cases {

// Empty for a verb nobody knows.
bool is_question(const std::string& verb);
// An Error becomes its text: cases show messages too.
std::string answer(const Section& section, Tapes& tapes);

}  // namespace tidemark::cases
