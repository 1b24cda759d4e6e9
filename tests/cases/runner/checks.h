// Lines of "=== check": facts computed by hand, never rewritten.
//
//   peak cuda:0 = 4608                         scope layers.0 forward peak cuda:0 = 2048
//   peak cuda:0 Parameter = 512                scope layers.0 parameters = 100
//   timeline cpu = 5 8 0                       leak sites = 1
//   diff cuda:0 scope head = 512 -> 1024       diagnostic double-free = 2
#pragma once

#include <string>

#include "tests/cases/runner/tapes.h"

namespace tidemark::cases {

// The body as it would be if every value were what the engine says.
std::string check(const Section& section, Tapes& tapes);

}  // namespace tidemark::cases
