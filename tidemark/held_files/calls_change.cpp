// Stands before libc's calls that make, remove and rename, and that change what a file is.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "tidemark/held_files/changes.h"
#include "tidemark/held_files/interpose.h"
#include "tidemark/held_files/lookup.h"
#include "tidemark/held_files/scratch.h"

using namespace tidemark::held_files;

namespace {

constexpr unsigned kNoReplace = 1, kExchange = 2;  // of renameat2

template <class Change, class Libc>
int change(int folder, const char* path, Change ours, Libc libc) {
  const std::string whole = path_to_change(folder, path);
  return whole.empty() ? libc() : ours(whole);
}

template <class Change, class Libc>
int change_two(int folder, const char* first, int other_folder, const char* second, Change ours,
               Libc libc) {
  const std::string one = path_to_change(folder, first), two = path_to_change(other_folder, second);
  return one.empty() || two.empty() ? libc() : ours(one, two);
}

int move_replacing(const std::string& from, const std::string& to) { return move(from, to, true); }

// Times, modes and owners of a file that is on the disk stay; the script hears that it was done.
template <class Libc>
int set_facts(int folder, const char* path, Links links, Libc libc) {
  const std::string whole = path_to_change(folder, path);
  if (whole.empty()) return libc(folder, path);
  const Place place = find(whole, links);
  const bool is_free = place.is_held || !place.exists || is_let_through(place.name) ||
                       is_made(place.name) || is_made(parent_of(place.name));
  return is_free ? libc(AT_FDCWD, place.at.c_str()) : 0;
}

Links links_of(int flags) { return flags & AT_SYMLINK_NOFOLLOW ? Links::Keep : Links::Follow; }

}  // namespace

TIDEMARK_INSTEAD_OF("unlink", int, held_unlink, const char* path) {
  TIDEMARK_NEXT("unlink", int(const char*));
  return change(AT_FDCWD, path, remove_file, [&] { return next(path); });
}
TIDEMARK_INSTEAD_OF("unlinkat", int, held_unlinkat, int folder, const char* path, int flags) {
  TIDEMARK_NEXT("unlinkat", int(int, const char*, int));
  return change(folder, path, flags & AT_REMOVEDIR ? remove_folder : remove_file,
                [&] { return next(folder, path, flags); });
}
TIDEMARK_INSTEAD_OF("rmdir", int, held_rmdir, const char* path) {
  TIDEMARK_NEXT("rmdir", int(const char*));
  return change(AT_FDCWD, path, remove_folder, [&] { return next(path); });
}
TIDEMARK_INSTEAD_OF("remove", int, held_remove, const char* path) {
  TIDEMARK_NEXT("remove", int(const char*));
  const auto either = [](const std::string& whole) {
    const int done = remove_file(whole);
    return done != 0 && errno == EISDIR ? remove_folder(whole) : done;
  };
  return change(AT_FDCWD, path, either, [&] { return next(path); });
}

TIDEMARK_INSTEAD_OF("mkdir", int, held_mkdir, const char* path, mode_t mode) {
  TIDEMARK_NEXT("mkdir", int(const char*, mode_t));
  return change(
      AT_FDCWD, path, [&](const std::string& whole) { return make_folder(whole, mode); },
      [&] { return next(path, mode); });
}
TIDEMARK_INSTEAD_OF("mkdirat", int, held_mkdirat, int folder, const char* path, mode_t mode) {
  TIDEMARK_NEXT("mkdirat", int(int, const char*, mode_t));
  return change(
      folder, path, [&](const std::string& whole) { return make_folder(whole, mode); },
      [&] { return next(folder, path, mode); });
}

TIDEMARK_INSTEAD_OF("rename", int, held_rename, const char* from, const char* to) {
  TIDEMARK_NEXT("rename", int(const char*, const char*));
  return change_two(AT_FDCWD, from, AT_FDCWD, to, move_replacing, [&] { return next(from, to); });
}
TIDEMARK_INSTEAD_OF("renameat", int, held_renameat, int from_folder, const char* from,
                    int to_folder, const char* to) {
  TIDEMARK_NEXT("renameat", int(int, const char*, int, const char*));
  return change_two(from_folder, from, to_folder, to, move_replacing,
                    [&] { return next(from_folder, from, to_folder, to); });
}
TIDEMARK_INSTEAD_OF("renameat2", int, held_renameat2, int from_folder, const char* from,
                    int to_folder, const char* to, unsigned flags) {
  TIDEMARK_NEXT("renameat2", int(int, const char*, int, const char*, unsigned));
  const auto ours = [&](const std::string& one, const std::string& two) {
    if (!(flags & kExchange)) return move(one, two, !(flags & kNoReplace));
    errno = EINVAL;  // as file systems say that cannot
    return -1;
  };
  return change_two(from_folder, from, to_folder, to, ours,
                    [&] { return next(from_folder, from, to_folder, to, flags); });
}

TIDEMARK_INSTEAD_OF("symlink", int, held_symlink, const char* target, const char* path) {
  TIDEMARK_NEXT("symlink", int(const char*, const char*));
  return change(
      AT_FDCWD, path, [&](const std::string& whole) { return make_link(target, whole); },
      [&] { return next(target, path); });
}
TIDEMARK_INSTEAD_OF("symlinkat", int, held_symlinkat, const char* target, int folder,
                    const char* path) {
  TIDEMARK_NEXT("symlinkat", int(const char*, int, const char*));
  return change(
      folder, path, [&](const std::string& whole) { return make_link(target, whole); },
      [&] { return next(target, folder, path); });
}
TIDEMARK_INSTEAD_OF("link", int, held_link, const char* from, const char* to) {
  TIDEMARK_NEXT("link", int(const char*, const char*));
  const auto ours = [](const std::string& one, const std::string& two) {
    return make_hard_link(one, two, Links::Keep);
  };
  return change_two(AT_FDCWD, from, AT_FDCWD, to, ours, [&] { return next(from, to); });
}
TIDEMARK_INSTEAD_OF("linkat", int, held_linkat, int from_folder, const char* from, int to_folder,
                    const char* to, int flags) {
  TIDEMARK_NEXT("linkat", int(int, const char*, int, const char*, int));
  const auto ours = [&](const std::string& one, const std::string& two) {
    return make_hard_link(one, two, flags & AT_SYMLINK_FOLLOW ? Links::Follow : Links::Keep);
  };
  return change_two(from_folder, from, to_folder, to, ours,
                    [&] { return next(from_folder, from, to_folder, to, flags); });
}

#define TIDEMARK_TRUNCATE(name, ours)                                         \
  TIDEMARK_INSTEAD_OF(name, int, ours, const char* path, off_t size) {        \
    TIDEMARK_NEXT(name, int(const char*, off_t));                             \
    const auto shorten = [&](const std::string& whole) {                      \
      std::string at;                                                         \
      return prepare_change(whole, at) == 0 ? next(at.c_str(), size) : -1;    \
    };                                                                        \
    return change(AT_FDCWD, path, shorten, [&] { return next(path, size); }); \
  }
TIDEMARK_TRUNCATE("truncate", held_truncate)
TIDEMARK_TRUNCATE("truncate64", held_truncate64)

TIDEMARK_INSTEAD_OF("chmod", int, held_chmod, const char* path, mode_t mode) {
  TIDEMARK_NEXT("chmod", int(const char*, mode_t));
  return set_facts(AT_FDCWD, path, Links::Follow,
                   [&](int, const char* at) { return next(at, mode); });
}
TIDEMARK_INSTEAD_OF("fchmodat", int, held_fchmodat, int folder, const char* path, mode_t mode,
                    int flags) {
  TIDEMARK_NEXT("fchmodat", int(int, const char*, mode_t, int));
  return set_facts(folder, path, links_of(flags),
                   [&](int in, const char* at) { return next(in, at, mode, flags); });
}
TIDEMARK_INSTEAD_OF("chown", int, held_chown, const char* path, uid_t owner, gid_t group) {
  TIDEMARK_NEXT("chown", int(const char*, uid_t, gid_t));
  return set_facts(AT_FDCWD, path, Links::Follow,
                   [&](int, const char* at) { return next(at, owner, group); });
}
TIDEMARK_INSTEAD_OF("lchown", int, held_lchown, const char* path, uid_t owner, gid_t group) {
  TIDEMARK_NEXT("lchown", int(const char*, uid_t, gid_t));
  return set_facts(AT_FDCWD, path, Links::Keep,
                   [&](int, const char* at) { return next(at, owner, group); });
}
TIDEMARK_INSTEAD_OF("fchownat", int, held_fchownat, int folder, const char* path, uid_t owner,
                    gid_t group, int flags) {
  TIDEMARK_NEXT("fchownat", int(int, const char*, uid_t, gid_t, int));
  return set_facts(folder, path, links_of(flags),
                   [&](int in, const char* at) { return next(in, at, owner, group, flags); });
}
TIDEMARK_INSTEAD_OF("utimensat", int, held_utimensat, int folder, const char* path,
                    const timespec* times, int flags) {
  TIDEMARK_NEXT("utimensat", int(int, const char*, const timespec*, int));
  return set_facts(folder, path, links_of(flags),
                   [&](int in, const char* at) { return next(in, at, times, flags); });
}
TIDEMARK_INSTEAD_OF("utimes", int, held_utimes, const char* path, const timeval* times) {
  TIDEMARK_NEXT("utimes", int(const char*, const timeval*));
  return set_facts(AT_FDCWD, path, Links::Follow,
                   [&](int, const char* at) { return next(at, times); });
}
TIDEMARK_INSTEAD_OF("utime", int, held_utime, const char* path, const void* times) {
  TIDEMARK_NEXT("utime", int(const char*, const void*));
  return set_facts(AT_FDCWD, path, Links::Follow,
                   [&](int, const char* at) { return next(at, times); });
}

#define TIDEMARK_SET_ATTRIBUTE(name, ours, links)                                             \
  TIDEMARK_INSTEAD_OF(name, int, ours, const char* path, const char* key, const void* value,  \
                      std::size_t size, int flags) {                                          \
    TIDEMARK_NEXT(name, int(const char*, const char*, const void*, std::size_t, int));        \
    return set_facts(AT_FDCWD, path, links,                                                   \
                     [&](int, const char* at) { return next(at, key, value, size, flags); }); \
  }
TIDEMARK_SET_ATTRIBUTE("setxattr", held_setxattr, Links::Follow)
TIDEMARK_SET_ATTRIBUTE("lsetxattr", held_lsetxattr, Links::Keep)
