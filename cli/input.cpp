// Opening with codec and progress.
#include "input.h"

#include "progress.h"
#include "tidemark/tape/open.h"
#ifdef TIDEMARK_HAS_ZSTD
#include "tidemark/readers/zstd/zstd_codec.h"
#endif

namespace tidemark::cli {

const Codec* tape_codec() {
#ifdef TIDEMARK_HAS_ZSTD
  static const ZstdCodec codec;
  return &codec;
#else
  return nullptr;
#endif
}

Tape open_input(const std::string& path) {
  ProgressLine line(path);
  OpenOptions options;
  options.codec = tape_codec();
  options.on_progress = &ProgressLine::note;
  options.progress_context = &line;
  return naming(path, [&] { return open_tape(path, options); });
}

Error about_file(const Error& error, const std::string& path) {
  std::string where = error.where();
  if (where.empty()) where = path;
  else if (!where.starts_with(path)) where = path + ": " + where;
  return Error(error.code(), error.message(), where, error.hint());
}

}  // namespace tidemark::cli
