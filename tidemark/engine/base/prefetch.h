// Asks the processor to bring memory near that will soon be needed.
#pragma once

namespace tidemark {

inline void prefetch(const void* memory) {
#if defined(__GNUC__)
  __builtin_prefetch(memory, 1);
#else
  static_cast<void>(memory);
#endif
}

}  // namespace tidemark
