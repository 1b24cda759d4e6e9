// Stands before libc's write: many zeros at the end of a file become a hole, which takes no disk.
//
// Tensors on virtual GPUs have no values; what a script saves of them is zeros. Only large writes
// are looked at.
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "tidemark/held_files/interpose.h"
#include "tidemark/held_files/lookup.h"
#include "tidemark/held_files/scratch.h"
#include "tidemark/held_files/system_calls.h"

using namespace tidemark::held_files;

namespace {

constexpr std::size_t kLargeBytes = 64 << 10;
constexpr off_t kBlockBytes = 4096;

// Each byte equals the one before it, and the first is zero.
bool is_zeros(const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
  return bytes[0] == 0 && bytes[size - 1] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0;
}

bool is_worth_a_look(std::size_t size) { return size >= kLargeBytes && is_holding(); }

// Lets a file end later by a hole, if nothing is after `at`.
bool extend(int file, off_t at, std::size_t size, off_t file_size) {
  return at >= file_size && syscall(SYS_ftruncate, file, at + static_cast<off_t>(size)) == 0;
}

// Leaves a hole as it is, in a file that was given its size before; the rest of the block that it
// begins in is written. Moves the place where the file is read and written.
bool keep_hole(int file, const void* zeros, off_t at, std::size_t size, off_t file_size) {
  const off_t end = at + static_cast<off_t>(size);
  const off_t begin = (at + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  if (end > file_size) return false;
  const off_t data = syscall(SYS_lseek, file, begin, SEEK_DATA);
  if (data < 0 ? errno != ENXIO : data < end) return false;
  return begin == at || syscall(SYS_pwrite64, file, zeros, begin - at, at) == begin - at;
}

// The size of a plain file; nothing else has holes.
std::optional<off_t> size_of(int file) {
  struct stat facts;
  if (syscall(SYS_fstat, file, &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return facts.st_size;
}

bool write_hole(int file, const void* data, std::size_t size) {
  KeepErrno keep;
  const int flags = static_cast<int>(syscall(SYS_fcntl, file, F_GETFL));
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return false;
  const off_t at = syscall(SYS_lseek, file, 0, flags & O_APPEND ? SEEK_END : SEEK_CUR);
  const auto file_size = size_of(file);
  if (at < 0 || !file_size || !is_zeros(data, size)) return false;
  const bool is_done =
      extend(file, at, size, *file_size) || keep_hole(file, data, at, size, *file_size);
  syscall(SYS_lseek, file, is_done ? at + static_cast<off_t>(size) : at, SEEK_SET);
  return is_done;
}

}  // namespace

TIDEMARK_INSTEAD_OF("write", ssize_t, held_write, int file, const void* data, std::size_t size) {
  TIDEMARK_NEXT("write", ssize_t(int, const void*, std::size_t));
  if (is_worth_a_look(size) && write_hole(file, data, size)) return static_cast<ssize_t>(size);
  return next(file, data, size);
}

#define TIDEMARK_PWRITE(name, ours)                                                           \
  TIDEMARK_INSTEAD_OF(name, ssize_t, ours, int file, const void* data, std::size_t size,      \
                      off_t at) {                                                             \
    TIDEMARK_NEXT(name, ssize_t(int, const void*, std::size_t, off_t));                       \
    if (is_worth_a_look(size) && is_zeros(data, size)) {                                      \
      KeepErrno keep;                                                                         \
      const auto file_size = size_of(file);                                                   \
      if (file_size && extend(file, at, size, *file_size)) return static_cast<ssize_t>(size); \
    }                                                                                         \
    return next(file, data, size, at);                                                        \
  }
TIDEMARK_PWRITE("pwrite", held_pwrite)
TIDEMARK_PWRITE("pwrite64", held_pwrite64)

// In parts, where one is large: a call may write less than it was given.
TIDEMARK_INSTEAD_OF("writev", ssize_t, held_writev, int file, const iovec* parts, int count) {
  TIDEMARK_NEXT("writev", ssize_t(int, const iovec*, int));
  bool is_large = false;
  for (int i = 0; i < count; ++i) is_large = is_large || is_worth_a_look(parts[i].iov_len);
  if (!is_large) return next(file, parts, count);
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t written = held_write(file, parts[i].iov_base, parts[i].iov_len);
    if (written < 0) return all > 0 ? all : written;
    all += written;
    if (static_cast<std::size_t>(written) < parts[i].iov_len) break;
  }
  return all;
}
