// Asks the processor to bring memory near that will soon be needed.
//
// Whoever calls it has to be inlined, too, up to the loop: g++ takes a function that does nothing
// else for one without effect, and drops the calls of it.
#pragma once

namespace tidemark {

[[gnu::always_inline]] inline void prefetch(const void* memory) {
#if defined(__GNUC__)
  __builtin_prefetch(memory, 1);
#else
  static_cast<void>(memory);
#endif
}

}  // namespace tidemark
