// Whether it is cuBLAS that asks for memory: its workspaces are no tensor's, and stay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tidemark::recorder {

// PyTorch takes a workspace of a known size inside of a few functions. Who asks for as much is
// looked for among the callers, which only requests of just that size pay for.
class LibraryCode {
 public:
  struct Function {
    std::uintptr_t begin = 0, end = 0;
  };

  // Once PyTorch's library is loaded. Where it has no such functions, nothing is a library's.
  void learn() noexcept;
  // Called below the allocator, which a function of the library may have called.
  bool asks_for(std::int64_t bytes) const noexcept;

 private:
  std::array<Function, 5> functions_{};
  std::array<std::int64_t, 3> sizes_{};
};

}  // namespace tidemark::recorder
