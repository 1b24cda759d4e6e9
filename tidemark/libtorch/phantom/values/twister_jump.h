// Moves the CPU's random generator on by any number of draws, at once: nothing is drawn.
#pragma once

#include <ATen/core/MT19937RNGEngine.h>

#include <cstdint>

namespace tidemark::phantom {

// The engine is then, bit for bit, as after so many calls of it. Half a millisecond at most, and a
// few for a number that is new to the thread, however large it is.
void skip_draws(at::mt19937& engine, std::uint64_t draws);

}  // namespace tidemark::phantom
