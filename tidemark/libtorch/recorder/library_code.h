// Whether it is cuBLAS that asks for memory: its workspaces are no tensor's, and stay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tidemark/libtorch/recorder/stack_words.h"

namespace tidemark::recorder {

// PyTorch takes a workspace of a known size inside of a few functions. Who asks for as much is
// looked for among the callers, which only requests of just that size pay for; of these most are
// told from the words of the stack, since many a tensor has that size.
class LibraryCode {
 public:
  // Once PyTorch's library is loaded. Where it has no such functions, nothing is a library's.
  void learn() noexcept;
  // Called below the allocator, which a function of the library may have called.
  bool asks_for(std::int64_t bytes) const noexcept;

 private:
  std::array<CodeRange, 5> functions_{};
  CodeRange all_;  // from the first of them to the last
  std::array<std::int64_t, 3> sizes_{};
};

}  // namespace tidemark::recorder
