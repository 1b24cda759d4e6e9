// Stands before libc's makers of temporary files and folders, which do not call its own open and
// mkdir.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "tidemark/held_files/interpose.h"

namespace {

constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::string_view kPlace = "XXXXXX";
constexpr int kTries = 1000;

// Fills the six X before the suffix with letters until `make` succeeds; its result, or -1.
template <class Make>
int make_temporary(char* pattern, int suffix_length, Make make) {
  const auto length = static_cast<int>(std::strlen(pattern));
  const int at = length - suffix_length - static_cast<int>(kPlace.size());
  if (at < 0 || std::string_view(pattern + at, kPlace.size()) != kPlace) {
    errno = EINVAL;
    return -1;
  }
  for (int i = 0; i < kTries; ++i) {
    unsigned char chance[kPlace.size()] = {};
    if (getrandom(chance, sizeof chance, 0) < 0) return -1;
    for (std::size_t k = 0; k < kPlace.size(); ++k)
      pattern[at + static_cast<int>(k)] = kLetters[chance[k] % kLetters.size()];
    const int made = make(pattern);
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

// By libc's names, which are ours in this process.
int open_new(const char* path, int flags) {
  return ::open(path, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
}

}  // namespace

#define TIDEMARK_MAKE_FILE(name, ours, parameters, suffix, flags)                      \
  extern "C" __attribute__((visibility("default"))) int ours parameters __asm__(name); \
  int ours parameters {                                                                \
    return make_temporary(pattern, suffix,                                             \
                          [&](const char* path) { return open_new(path, flags); });    \
  }
TIDEMARK_MAKE_FILE("mkstemp", held_mkstemp, (char* pattern), 0, 0)
TIDEMARK_MAKE_FILE("mkstemp64", held_mkstemp64, (char* pattern), 0, 0)
TIDEMARK_MAKE_FILE("mkostemp", held_mkostemp, (char* pattern, int more), 0, more)
TIDEMARK_MAKE_FILE("mkostemp64", held_mkostemp64, (char* pattern, int more), 0, more)
TIDEMARK_MAKE_FILE("mkstemps", held_mkstemps, (char* pattern, int suffix), suffix, 0)
TIDEMARK_MAKE_FILE("mkstemps64", held_mkstemps64, (char* pattern, int suffix), suffix, 0)
TIDEMARK_MAKE_FILE("mkostemps", held_mkostemps, (char* pattern, int suffix, int more), suffix, more)
TIDEMARK_MAKE_FILE("mkostemps64", held_mkostemps64, (char* pattern, int suffix, int more), suffix,
                   more)

TIDEMARK_INSTEAD_OF("mkdtemp", char*, held_mkdtemp, char* pattern) {
  const int made = make_temporary(pattern, 0, [](const char* path) { return ::mkdir(path, 0700); });
  return made == 0 ? pattern : nullptr;
}
