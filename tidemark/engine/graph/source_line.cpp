// Goes through the frames from the innermost outwards.
#include "tidemark/engine/graph/source_line.h"

#include <charconv>

namespace tidemark {
namespace {

constexpr std::string_view kFile = "File \"", kLine = "\", line ";

bool is_torchs(const std::string& file) { return file.find("/torch/") != std::string::npos; }

SourceLine frame_at(std::string_view stack, std::size_t begin) {
  const std::size_t end = stack.find(kLine, begin);
  if (end == std::string_view::npos) return {};
  SourceLine found;
  found.file = stack.substr(begin + kFile.size(), end - begin - kFile.size());
  std::from_chars(stack.data() + end + kLine.size(), stack.data() + stack.size(), found.line);
  return found;
}

}  // namespace

SourceLine find_source_line(std::string_view stack) {
  SourceLine innermost;
  for (std::size_t begin = stack.rfind(kFile); begin != std::string_view::npos;
       begin = begin == 0 ? std::string_view::npos : stack.rfind(kFile, begin - 1)) {
    SourceLine frame = frame_at(stack, begin);
    if (!frame.file.empty() && !is_torchs(frame.file)) return frame;
    if (innermost.file.empty()) innermost = std::move(frame);
  }
  return innermost;
}

}  // namespace tidemark
