// Moves the CPU's random generator on by any number of draws, at once: nothing is drawn.
#pragma once

#include <ATen/core/MT19937RNGEngine.h>

#include <cstdint>

namespace tidemark::phantom {

// The engine is then, bit for bit, as after so many calls of it. At most a millisecond or two,
// whatever the number.
void skip_draws(at::mt19937& engine, std::uint64_t draws);

}  // namespace tidemark::phantom
