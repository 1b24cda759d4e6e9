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

// The innermost frame that is not in torch's own folder; the innermost of all where there is none.
//   File "train.py", line 12, in forward
SourceLine find_source_line(std::string_view stack);

}  // namespace tidemark
