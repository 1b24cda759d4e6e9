// The kernel's own file calls: what stands before libc's must not call itself.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <optional>
#include <string>

namespace tidemark::held_files::kernel {

inline int open(const std::string& path, int flags, mode_t mode = 0) {
  return static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, path.c_str(), flags | O_CLOEXEC | O_LARGEFILE, mode));
}
inline void close(int file) { syscall(SYS_close, file); }
inline bool look_at(const std::string& path, struct stat& found) {
  return syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}
inline int unlink(const std::string& path) {
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), 0));
}
inline int rmdir(const std::string& path) {
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), AT_REMOVEDIR));
}
inline int mkdir(const std::string& path, mode_t mode) {
  return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path.c_str(), mode));
}
inline int rename(const std::string& from, const std::string& to) {
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0));
}
inline int symlink(const std::string& target, const std::string& path) {
  return static_cast<int>(syscall(SYS_symlinkat, target.c_str(), AT_FDCWD, path.c_str()));
}
inline int access(const std::string& path, int mode) {
  return static_cast<int>(syscall(SYS_faccessat, AT_FDCWD, path.c_str(), mode));
}
// What a symbolic link says; nothing, where there is none.
inline std::optional<std::string> readlink(const std::string& path) {
  char text[PATH_MAX];
  const long length = syscall(SYS_readlinkat, AT_FDCWD, path.c_str(), text, sizeof text);
  if (length < 0) return std::nullopt;
  return std::string(text, static_cast<std::size_t>(length));
}

}  // namespace tidemark::held_files::kernel
