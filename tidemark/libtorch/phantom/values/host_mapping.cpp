// Linux's calls for pages.
#include "tidemark/libtorch/phantom/values/host_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace tidemark::phantom {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// What /proc/self/pagemap says of a page: it is in memory, or it is swapped out.
constexpr std::uint64_t kIsThere = std::uint64_t{3} << 62;

class PageMap {
 public:
  PageMap() : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~PageMap() {
    if (file_ >= 0) ::close(file_);
  }
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  // True when the system says of each of these pages that it is not there.
  bool are_absent(std::size_t first, std::size_t count) const {
    std::array<std::uint64_t, 512> pages;
    while (count > 0) {
      const std::size_t wanted = std::min(count, pages.size()) * sizeof(std::uint64_t);
      const auto got =
          ::pread(file_, pages.data(), wanted, static_cast<off_t>(first * sizeof(std::uint64_t)));
      if (got != static_cast<ssize_t>(wanted)) return false;
      const std::size_t read = wanted / sizeof(std::uint64_t);
      if (std::any_of(pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(read),
                      [](std::uint64_t page) { return (page & kIsThere) != 0; }))
        return false;
      first += read;
      count -= read;
    }
    return true;
  }

 private:
  int file_;
};

}  // namespace

HostMapping::HostMapping(std::size_t bytes)
    : bytes_((bytes + page_bytes() - 1) / page_bytes() * page_bytes()) {
  void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data != MAP_FAILED) data_ = data;
}

HostMapping::~HostMapping() {
  if (data_) munmap(data_, bytes_);
}

bool HostMapping::close() {
  return mprotect(data_, bytes_, PROT_NONE) == 0 && madvise(data_, bytes_, MADV_DONTNEED) == 0;
}

bool HostMapping::open() { return mprotect(data_, bytes_, PROT_READ | PROT_WRITE) == 0; }

bool HostMapping::take(HostMapping&& other) {
  const void* moved =
      mremap(other.data_, other.bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, data_);
  if (moved == MAP_FAILED) return false;
  other.data_ = nullptr;
  return true;
}

bool HostMapping::is_untouched() const {
  const auto first = reinterpret_cast<std::uintptr_t>(data_) / page_bytes();
  return PageMap().are_absent(first, bytes_ / page_bytes());
}

}  // namespace tidemark::phantom
