// Stands before libc's calls that open files by name.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "tidemark/held_files/changes.h"
#include "tidemark/held_files/interpose.h"
#include "tidemark/held_files/lookup.h"
#include "tidemark/held_files/scratch.h"

using namespace tidemark::held_files;

namespace {

// Both are more than one bit; a file without a name disturbs nobody.
bool may_change(int flags) {
  if ((flags & O_TMPFILE) == O_TMPFILE || (flags & O_PATH) == O_PATH) return false;
  return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
}

template <class Open>
auto open_held(int folder, const char* path, int flags, Open open) -> decltype(open(folder, path)) {
  if (!may_change(flags)) {
    const Lookup found(folder, path, flags & O_NOFOLLOW ? Links::Keep : Links::Follow);
    return open(found.folder(), found.path());
  }
  const std::string whole = path_to_change(folder, path);
  if (whole.empty()) return open(folder, path);
  std::string at;
  if (prepare_open(whole, flags, at) == 0) return open(AT_FDCWD, at.c_str());
  if constexpr (std::is_pointer_v<decltype(open(folder, path))>) return nullptr;
  else return -1;
}

int flags_of(const char* mode) {
  const int access = std::strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
  const int exclusive = std::strchr(mode, 'x') ? O_EXCL : 0;
  if (*mode == 'w') return access | O_CREAT | O_TRUNC | exclusive;
  return *mode == 'a' ? access | O_CREAT | O_APPEND : access;
}

// Only these flags come with a mode.
bool has_mode(int flags) { return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE; }

}  // namespace

#define TIDEMARK_READ_MODE(flags)                       \
  mode_t mode = 0;                                      \
  if (has_mode(flags)) {                                \
    va_list more;                                       \
    va_start(more, flags);                              \
    mode = static_cast<mode_t>(va_arg(more, unsigned)); \
    va_end(more);                                       \
  }

#define TIDEMARK_OPEN(name, behind, ours)                                                        \
  TIDEMARK_INSTEAD_OF(name, int, ours, const char* path, int flags, ...) {                       \
    TIDEMARK_READ_MODE(flags)                                                                    \
    TIDEMARK_NEXT(behind, int(int, const char*, int, ...));                                      \
    return open_held(AT_FDCWD, path, flags,                                                      \
                     [&](int folder, const char* at) { return next(folder, at, flags, mode); }); \
  }
#define TIDEMARK_OPENAT(name, ours)                                                              \
  TIDEMARK_INSTEAD_OF(name, int, ours, int from, const char* path, int flags, ...) {             \
    TIDEMARK_READ_MODE(flags)                                                                    \
    TIDEMARK_NEXT(name, int(int, const char*, int, ...));                                        \
    return open_held(from, path, flags,                                                          \
                     [&](int folder, const char* at) { return next(folder, at, flags, mode); }); \
  }

TIDEMARK_OPEN("open", "openat", held_open)
TIDEMARK_OPEN("open64", "openat64", held_open64)
TIDEMARK_OPEN("__open_2", "openat", held_open_2)
TIDEMARK_OPEN("__open64_2", "openat64", held_open64_2)
TIDEMARK_OPENAT("openat", held_openat)
TIDEMARK_OPENAT("openat64", held_openat64)

TIDEMARK_INSTEAD_OF("creat", int, held_creat, const char* path, mode_t mode) {
  return held_open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}
TIDEMARK_INSTEAD_OF("creat64", int, held_creat64, const char* path, mode_t mode) {
  return held_open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

#define TIDEMARK_FOPEN(name, ours)                                             \
  TIDEMARK_INSTEAD_OF(name, FILE*, ours, const char* path, const char* mode) { \
    TIDEMARK_NEXT(name, FILE*(const char*, const char*));                      \
    return open_held(AT_FDCWD, path, flags_of(mode),                           \
                     [&](int, const char* at) { return next(at, mode); });     \
  }
TIDEMARK_FOPEN("fopen", held_fopen)
TIDEMARK_FOPEN("fopen64", held_fopen64)

#define TIDEMARK_FREOPEN(name, ours)                                                       \
  TIDEMARK_INSTEAD_OF(name, FILE*, ours, const char* path, const char* mode, FILE* file) { \
    TIDEMARK_NEXT(name, FILE*(const char*, const char*, FILE*));                           \
    if (!path) return next(path, mode, file);                                              \
    return open_held(AT_FDCWD, path, flags_of(mode),                                       \
                     [&](int, const char* at) { return next(at, mode, file); });           \
  }
TIDEMARK_FREOPEN("freopen", held_freopen)
TIDEMARK_FREOPEN("freopen64", held_freopen64)
