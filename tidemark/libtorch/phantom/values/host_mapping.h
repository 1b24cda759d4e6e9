// Whole pages of host memory, straight from the system: zeros that cost nothing until touched.
#pragma once

#include <cstddef>
#include <utility>

namespace tidemark::phantom {

class HostMapping {
 public:
  // Empty (a null address) where the system has none.
  explicit HostMapping(std::size_t bytes);
  ~HostMapping();
  HostMapping(HostMapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  HostMapping(const HostMapping&) = delete;
  HostMapping& operator=(const HostMapping&) = delete;
  HostMapping& operator=(HostMapping&&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }  // whole pages
  bool contains(const void* address) const {
    const auto *first = static_cast<const char*>(data_), *it = static_cast<const char*>(address);
    return it >= first && it < first + bytes_;
  }

  // Gives the pages up: whoever touches them faults. False where the system refuses.
  bool close();
  // Zeros again, after close().
  bool open();
  // Moves the other's pages to this place, in one step for all threads.
  bool take(HostMapping&& other);
  // False also where the system does not tell.
  bool is_untouched() const;

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace tidemark::phantom
