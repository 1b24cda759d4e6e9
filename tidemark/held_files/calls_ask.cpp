// Stands before libc's calls that ask about a name and change nothing.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "tidemark/held_files/interpose.h"
#include "tidemark/held_files/lookup.h"
#include "tidemark/held_files/overlay.h"
#include "tidemark/held_files/scratch.h"

using namespace tidemark::held_files;

namespace {

Links links_of(int flags) { return flags & AT_SYMLINK_NOFOLLOW ? Links::Keep : Links::Follow; }

}  // namespace

// stat and its kin: a path, then a structure that is libc's affair.
#define TIDEMARK_ASK(name, ours, links)                                  \
  TIDEMARK_INSTEAD_OF(name, int, ours, const char* path, void* answer) { \
    TIDEMARK_NEXT(name, int(const char*, void*));                        \
    const Lookup found(path, links);                                     \
    return next(found.path(), answer);                                   \
  }
TIDEMARK_ASK("stat", held_stat, Links::Follow)
TIDEMARK_ASK("stat64", held_stat64, Links::Follow)
TIDEMARK_ASK("lstat", held_lstat, Links::Keep)
TIDEMARK_ASK("lstat64", held_lstat64, Links::Keep)
TIDEMARK_ASK("statfs", held_statfs, Links::Follow)
TIDEMARK_ASK("statfs64", held_statfs64, Links::Follow)
TIDEMARK_ASK("statvfs", held_statvfs, Links::Follow)
TIDEMARK_ASK("statvfs64", held_statvfs64, Links::Follow)

// The same as programs call them that were built with a glibc before 2.33.
#define TIDEMARK_ASK_OLD(name, ours, links)                                           \
  TIDEMARK_INSTEAD_OF(name, int, ours, int version, const char* path, void* answer) { \
    TIDEMARK_NEXT(name, int(int, const char*, void*));                                \
    const Lookup found(path, links);                                                  \
    return next(version, found.path(), answer);                                       \
  }
TIDEMARK_ASK_OLD("__xstat", held_xstat, Links::Follow)
TIDEMARK_ASK_OLD("__xstat64", held_xstat64, Links::Follow)
TIDEMARK_ASK_OLD("__lxstat", held_lxstat, Links::Keep)
TIDEMARK_ASK_OLD("__lxstat64", held_lxstat64, Links::Keep)

#define TIDEMARK_ASK_AT(name, ours)                                                             \
  TIDEMARK_INSTEAD_OF(name, int, ours, int folder, const char* path, void* answer, int flags) { \
    TIDEMARK_NEXT(name, int(int, const char*, void*, int));                                     \
    const Lookup found(folder, path, links_of(flags));                                          \
    return next(found.folder(), found.path(), answer, flags);                                   \
  }
TIDEMARK_ASK_AT("fstatat", held_fstatat)
TIDEMARK_ASK_AT("fstatat64", held_fstatat64)

#define TIDEMARK_ASK_AT_OLD(name, ours)                                                         \
  TIDEMARK_INSTEAD_OF(name, int, ours, int version, int folder, const char* path, void* answer, \
                      int flags) {                                                              \
    TIDEMARK_NEXT(name, int(int, int, const char*, void*, int));                                \
    const Lookup found(folder, path, links_of(flags));                                          \
    return next(version, found.folder(), found.path(), answer, flags);                          \
  }
TIDEMARK_ASK_AT_OLD("__fxstatat", held_fxstatat)
TIDEMARK_ASK_AT_OLD("__fxstatat64", held_fxstatat64)

TIDEMARK_INSTEAD_OF("statx", int, held_statx, int folder, const char* path, int flags,
                    unsigned mask, void* answer) {
  TIDEMARK_NEXT("statx", int(int, const char*, int, unsigned, void*));
  const Lookup found(folder, path, links_of(flags));
  return next(found.folder(), found.path(), flags, mask, answer);
}

TIDEMARK_INSTEAD_OF("access", int, held_access, const char* path, int mode) {
  TIDEMARK_NEXT("access", int(const char*, int));
  const Lookup found(path);
  return next(found.path(), mode);
}
TIDEMARK_INSTEAD_OF("euidaccess", int, held_euidaccess, const char* path, int mode) {
  TIDEMARK_NEXT("euidaccess", int(const char*, int));
  const Lookup found(path);
  return next(found.path(), mode);
}
TIDEMARK_INSTEAD_OF("faccessat", int, held_faccessat, int folder, const char* path, int mode,
                    int flags) {
  TIDEMARK_NEXT("faccessat", int(int, const char*, int, int));
  const Lookup found(folder, path, links_of(flags));
  return next(found.folder(), found.path(), mode, flags);
}

TIDEMARK_INSTEAD_OF("readlink", ssize_t, held_readlink, const char* path, char* text,
                    std::size_t size) {
  TIDEMARK_NEXT("readlink", ssize_t(const char*, char*, std::size_t));
  const Lookup found(path, Links::Keep);
  return next(found.path(), text, size);
}
TIDEMARK_INSTEAD_OF("readlinkat", ssize_t, held_readlinkat, int folder, const char* path,
                    char* text, std::size_t size) {
  TIDEMARK_NEXT("readlinkat", ssize_t(int, const char*, char*, std::size_t));
  const Lookup found(folder, path, Links::Keep);
  return next(found.folder(), found.path(), text, size);
}

// libc's own walks over the disk alone.
TIDEMARK_INSTEAD_OF("realpath", char*, held_realpath, const char* path, char* resolved) {
  TIDEMARK_NEXT("realpath", char*(const char*, char*));
  if (!is_holding() || !has_changes() || !path || !*path) return next(path, resolved);
  const std::string whole = absolute(AT_FDCWD, path);
  if (whole.empty()) return next(path, resolved);
  const Place place = find(whole, Links::Follow);
  if (!place.is_changed && !place.is_by_held_link) return next(path, resolved);
  if (!place.exists) {
    errno = ENOENT;
    return nullptr;
  }
  if (!resolved) return strdup(place.name.c_str());
  return std::strncpy(resolved, place.name.c_str(), PATH_MAX);
}

// Extended attributes: libraries that copy a file copy these, and take "no such file" for an error.
#define TIDEMARK_LIST_ATTRIBUTES(name, ours, links)                                           \
  TIDEMARK_INSTEAD_OF(name, ssize_t, ours, const char* path, char* names, std::size_t size) { \
    TIDEMARK_NEXT(name, ssize_t(const char*, char*, std::size_t));                            \
    const Lookup found(path, links);                                                          \
    return next(found.path(), names, size);                                                   \
  }
TIDEMARK_LIST_ATTRIBUTES("listxattr", held_listxattr, Links::Follow)
TIDEMARK_LIST_ATTRIBUTES("llistxattr", held_llistxattr, Links::Keep)

#define TIDEMARK_GET_ATTRIBUTE(name, ours, links)                                          \
  TIDEMARK_INSTEAD_OF(name, ssize_t, ours, const char* path, const char* key, void* value, \
                      std::size_t size) {                                                  \
    TIDEMARK_NEXT(name, ssize_t(const char*, const char*, void*, std::size_t));            \
    const Lookup found(path, links);                                                       \
    return next(found.path(), key, value, size);                                           \
  }
TIDEMARK_GET_ATTRIBUTE("getxattr", held_getxattr, Links::Follow)
TIDEMARK_GET_ATTRIBUTE("lgetxattr", held_lgetxattr, Links::Keep)

TIDEMARK_INSTEAD_OF("chdir", int, held_chdir, const char* path) {
  TIDEMARK_NEXT("chdir", int(const char*));
  const Lookup found(path);
  return next(found.path());
}

TIDEMARK_INSTEAD_OF("execve", int, held_execve, const char* path, char* const* arguments,
                    char* const* environment) {
  TIDEMARK_NEXT("execve", int(const char*, char* const*, char* const*));
  const Lookup found(path);
  return next(found.path(), arguments, environment);
}
TIDEMARK_INSTEAD_OF("execv", int, held_execv, const char* path, char* const* arguments) {
  TIDEMARK_NEXT("execv", int(const char*, char* const*));
  const Lookup found(path);
  return next(found.path(), arguments);
}
