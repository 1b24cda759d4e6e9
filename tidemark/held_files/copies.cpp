// Copies share the disk's blocks where the file system can, and keep holes.
#include "tidemark/held_files/copies.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <vector>

#include "tidemark/held_files/next_call.h"
#include "tidemark/held_files/scratch.h"
#include "tidemark/held_files/system_calls.h"

namespace tidemark::held_files {
namespace {

bool write_all(int to, const char* data, std::size_t size) {
  while (size > 0) {
    const long written = syscall(SYS_write, to, data, size);
    if (written < 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool copy_range(int from, int to, off_t end) {
  std::vector<char> part(1 << 20);
  for (off_t at = syscall(SYS_lseek, from, 0, SEEK_CUR); at < end;) {
    const auto size = std::min<std::size_t>(part.size(), static_cast<std::size_t>(end - at));
    const long count = syscall(SYS_read, from, part.data(), size);
    if (count < 0 || !write_all(to, part.data(), static_cast<std::size_t>(count))) return false;
    if (count == 0) return true;
    at += count;
  }
  return true;
}

bool copy_content(int from, int to, off_t size) {
  if (syscall(SYS_ioctl, to, FICLONE, from) == 0) return true;
  if (syscall(SYS_ftruncate, to, size) != 0) return false;
  for (off_t end = 0; end < size;) {
    const long begin = syscall(SYS_lseek, from, end, SEEK_DATA);
    if (begin < 0) return errno == ENXIO;  // a hole up to the end
    end = syscall(SYS_lseek, from, begin, SEEK_HOLE);
    syscall(SYS_lseek, from, begin, SEEK_SET);
    syscall(SYS_lseek, to, begin, SEEK_SET);
    if (!copy_range(from, to, end)) return false;
  }
  return true;
}

}  // namespace

int make_folders(const std::string& path) {
  if (kernel::mkdir(path, 0777) == 0 || errno == EEXIST) return 0;
  const std::string parent = path.substr(0, path.rfind('/'));
  // The scratch folder itself is not made anew: when it is gone, the run is over.
  if (errno != ENOENT || !is_in_scratch(parent)) return -1;
  if (make_folders(parent) != 0) return -1;
  return kernel::mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -1;
}

int copy_file(const std::string& from, const std::string& to, bool with_content) {
  const int source = kernel::open(from, O_RDONLY);
  if (source < 0 && with_content) return -1;
  struct stat facts = {};
  if (!kernel::look_at(from, facts)) return -1;
  const std::string made = is_in_scratch(to) ? fresh() : to + ".tidemark";
  const int target = kernel::open(made, O_WRONLY | O_CREAT | O_EXCL, facts.st_mode & 07777);
  bool is_done = target >= 0 && (!with_content || copy_content(source, target, facts.st_size));
  if (is_done) is_done = kernel::rename(made, to) == 0;
  const int problem = errno;
  if (target >= 0 && !is_done) kernel::unlink(made);
  if (source >= 0) kernel::close(source);
  if (target >= 0) kernel::close(target);
  errno = problem;
  return is_done ? 0 : -1;
}

void remove_tree(const std::string& path) {
  if (kernel::unlink(path) == 0 || errno == ENOENT) return;
  if (DIR* folder = next_opendir(path.c_str())) {
    while (const dirent* entry = next_readdir(folder)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") remove_tree(path + "/" + name);
    }
    next_closedir(folder);
  }
  kernel::rmdir(path);
}

}  // namespace tidemark::held_files
