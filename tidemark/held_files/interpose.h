// How a function of ours takes the name of one of libc's.
#pragma once

#include "tidemark/held_files/next_call.h"

// Declares a function that the whole process finds under libc's name; the headers keep theirs.
#define TIDEMARK_INSTEAD_OF(name, result, ours, ...)                                        \
  extern "C" __attribute__((visibility("default"))) result ours(__VA_ARGS__) __asm__(name); \
  result ours(__VA_ARGS__)

// The one that stands behind.
#define TIDEMARK_NEXT(name, ...) \
  static const auto next = ::tidemark::held_files::next_call<__VA_ARGS__>(name)
