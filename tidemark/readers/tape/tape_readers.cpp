// Tells tapes by their first bytes, and opens them with this build's compressor.
#include "tidemark/readers/tape/tape_readers.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/open.h"
#include "tidemark/readers/codec.h"

namespace tidemark {
namespace {

Tape read_tape(const Candidate& file, const InputOptions& options) {
  if (!options.dimensions.empty())
    throw Error(ErrorCode::BadArgument, "a tape has no dimensions to bind", file.path(),
                "--bind is for exported models (.pt2)");
  OpenOptions open;
  open.codec = find_codec();
  open.on_progress = options.progress.listener;
  open.progress_context = options.progress.context;
  return open_tape(file.path(), open);
}

// Nothing else that people have begins with this byte, and a damaged tape is still theirs. An
// empty file is what a run leaves that was stopped before its first event.
bool is_binary_tape(const Candidate& file) {
  return file.size() == 0 || file.beginning().starts_with(static_cast<char>(kMagic[0]));
}

// The first word that is no comment is `tape`; a comment may be longer than what one sees.
bool is_text_tape(const Candidate& file) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::string_view text = file.beginning();
  do {
    const std::size_t line = text.starts_with('#') ? text.find('\n') : 0;
    text.remove_prefix(std::min(text.find_first_not_of(kBlank, line), text.size()));
  } while (text.starts_with('#'));
  if (text.empty()) return file.is_text() && file.size() > file.beginning().size();
  return text.starts_with("tape") && (text.size() == 4 || kBlank.find(text[4]) != kBlank.npos);
}

}  // namespace

const Reader kBinaryTape = {"a tape", &is_binary_tape, &read_tape};
const Reader kTextTape = {"a tape as text", &is_text_tape, &read_tape};

}  // namespace tidemark
