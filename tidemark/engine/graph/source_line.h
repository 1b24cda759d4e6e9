// The line of the user's own code in a printed Python stack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

struct SourceLine {
  std::string file;  // "" where the text has no frames
  std::uint32_t line = 0;
};

// The innermost frame that is not PyTorch's own; the innermost of all where there is none.
//   File "train.py", line 12, in forward
// PyTorch's own are those of a package folder (site-packages/torch, dist-packages/torch) and of
// `torch_folder`, where the caller knows which torch it was. A user may call a folder torch, too.
SourceLine find_source_line(std::string_view stack, std::string_view torch_folder = {});

}  // namespace tidemark
