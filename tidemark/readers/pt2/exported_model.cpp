// Opens an exported model as the tape of its graph.
#include "tidemark/readers/pt2/exported_model.h"

#ifdef TIDEMARK_HAS_PT2
#include <algorithm>

#include "tidemark/engine/graph/graph_tape.h"
#include "tidemark/readers/pt2/model_path.h"
#include "tidemark/readers/pt2/pt2_reader.h"
#endif

namespace tidemark {

#ifdef TIDEMARK_HAS_PT2
namespace {

bool has_model(const Candidate& file) {
  return std::any_of(file.members().begin(), file.members().end(), &pt2::is_model_path);
}

Tape read_exported_model(const Candidate& file, const InputOptions& options) {
  const Graph graph = read_pt2_file(file.path(), options.progress);
  GraphOptions rules;
  rules.dimensions = resolve_bindings(graph, options.dimensions);
  return tape_of_graph(Accounts(graph, rules));
}

}  // namespace

const Reader kExportedModel = {"an exported model", &has_model, &read_exported_model};
#else
namespace {

bool is_named_so(const Candidate& file) { return file.is_zip() && file.is_named(".pt2"); }

}  // namespace

const Reader kExportedModel = {"an exported model, which this build cannot read", &is_named_so,
                               nullptr, "build tidemark where libzip and simdjson are"};
#endif

}  // namespace tidemark
