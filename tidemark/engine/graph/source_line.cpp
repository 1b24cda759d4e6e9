// Goes through the frames from the innermost outwards.
#include "tidemark/engine/graph/source_line.h"

#include <charconv>

namespace tidemark {
namespace {

constexpr std::string_view kFile = "File \"", kLine = "\", line ";

bool lies_in(std::string_view file, std::string_view folder) {
  return !folder.empty() && file.starts_with(folder) &&
         (folder.ends_with('/') || file.substr(folder.size()).starts_with('/'));
}

bool is_torchs(std::string_view file, std::string_view torch_folder) {
  return file.find("/site-packages/torch/") != std::string_view::npos ||
         file.find("/dist-packages/torch/") != std::string_view::npos ||
         lies_in(file, torch_folder);
}

SourceLine frame_at(std::string_view stack, std::size_t begin) {
  const std::size_t end = stack.find(kLine, begin);
  if (end == std::string_view::npos) return {};
  SourceLine found;
  found.file = stack.substr(begin + kFile.size(), end - begin - kFile.size());
  std::from_chars(stack.data() + end + kLine.size(), stack.data() + stack.size(), found.line);
  return found;
}

}  // namespace

SourceLine find_source_line(std::string_view stack, std::string_view torch_folder) {
  SourceLine innermost;
  for (std::size_t begin = stack.rfind(kFile); begin != std::string_view::npos;
       begin = begin == 0 ? std::string_view::npos : stack.rfind(kFile, begin - 1)) {
    SourceLine frame = frame_at(stack, begin);
    if (!frame.file.empty() && !is_torchs(frame.file, torch_folder)) return frame;
    if (innermost.file.empty()) innermost = std::move(frame);
  }
  return innermost;
}

}  // namespace tidemark
