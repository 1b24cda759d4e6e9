// Opening with codec and progress.
#include "tidemark/cli/input.h"

#include "tidemark/cli/progress.h"
#include "tidemark/engine/tape/open.h"
#ifdef TIDEMARK_HAS_ZSTD
#include "tidemark/readers/zstd/zstd_codec.h"
#endif
#ifdef TIDEMARK_HAS_PT2
#include "tidemark/engine/graph/graph_tape.h"
#include "tidemark/readers/pt2/pt2_reader.h"
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

namespace {

#ifdef TIDEMARK_HAS_PT2
Tape tape_of_model(const std::string& path, const Dimensions& dimensions) {
  const Graph graph = read_pt2_file(path);
  GraphOptions options;
  options.dimensions = resolve_bindings(graph, dimensions);
  return tape_of_graph(Accounts(graph, options));
}
#endif

}  // namespace

Tape open_input(const std::string& path, const Dimensions& dimensions) {
#ifdef TIDEMARK_HAS_PT2
  if (is_pt2_file(path)) return naming(path, [&] { return tape_of_model(path, dimensions); });
#endif
  if (!dimensions.empty())
    throw Error(ErrorCode::BadArgument, "a tape has no dimensions to bind", path,
                "--bind is for exported models (.pt2)");
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
