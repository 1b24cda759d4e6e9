// Whether a call of some code may be under way, by the words of the stack alone.
//
// To walk over callers takes microseconds; to look through some thousand words for an address of
// that code does not. A call that is under way has its return address there. So has, at times, one
// that has ended: its words stay until others are written over them.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tidemark::recorder {

struct CodeRange {
  std::uintptr_t begin = 0, end = 0;

  // Whether a call from inside returns to this address.
  bool has_return(std::uintptr_t address) const { return begin < address && address <= end; }
};

// This thread's stack as the system made it; nothing where it does not tell.
struct StackRange {
  std::uintptr_t begin = 0, end = 0;
};

inline StackRange ask_for_stack() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool is_told = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<std::uintptr_t>(lowest);
  return is_told ? StackRange{begin, begin + size} : StackRange{};
}

// False: no function of the range is among the callers whose frames begin within so many bytes.
// True: one may be.
__attribute__((noinline, no_sanitize_address)) inline bool stack_may_return_into(
    const CodeRange& code, std::size_t reach_bytes) noexcept {
  thread_local const StackRange stack = ask_for_stack();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here < stack.begin || here >= stack.end) return true;  // a stack that a program made itself
  // Processors that sign return addresses do so in the bits above.
  constexpr std::uintptr_t kAddressBits = (std::uintptr_t{1} << 48) - 1;
  // Negated: on this very stack the address would find itself.
  const std::uintptr_t less_first = ~code.begin, size = code.end - code.begin;
  const auto* const words = reinterpret_cast<const std::uintptr_t*>(here);
  const std::size_t count = std::min<std::size_t>(reach_bytes, stack.end - here) / sizeof(*words);
  bool is_found = false;  // no branch a word, so that several are compared at once
  for (std::size_t i = 0; i < count; ++i) is_found |= (words[i] & kAddressBits) + less_first < size;
  return is_found;
}

}  // namespace tidemark::recorder
