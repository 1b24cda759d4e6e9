// Finds the model in the archive, and gives dimensions names that people know.
#include "tidemark/readers/pt2/pt2_reader.h"

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/pt2/model_graph.h"
#include "tidemark/readers/pt2/model_path.h"
#include "tidemark/readers/zip/zip_archive.h"

namespace tidemark {
namespace {

Graph read_first_model(const ZipArchive& archive, const Progress& progress) {
  const std::vector<std::string> names = archive.names();
  Diagnostics found;
  std::optional<std::size_t> model;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!pt2::is_model_path(names[i])) continue;
    if (model)
      found.add("another-model", Severity::Warning, names[i],
                "the archive has several models; only the first is shown");
    else model = i;
  }
  if (!model)
    throw Error(ErrorCode::BadFormat, "the archive has no models/model.json", "archive",
                "write it with torch.export.save");
  return pt2::read_model(archive.read(*model, progress), std::move(found));
}

// "s77, captured at 3, from 2 to 64"
std::string describe(const Dimension& dimension) {
  std::string text = dimension.name;
  if (dimension.hint) text += ", captured at " + std::to_string(*dimension.hint);
  if (dimension.lower) text += ", from " + std::to_string(*dimension.lower);
  if (dimension.upper) text += " to " + std::to_string(*dimension.upper);
  return text;
}

[[noreturn]] void refuse(const Graph& graph, const std::string& name) {
  std::string known;
  for (const Dimension& dimension : graph.dimensions())
    known += (known.empty() ? "" : "; ") + describe(dimension);
  throw Error(ErrorCode::BadArgument, "the model has no dimension " + name, {},
              known.empty() ? "all its sizes are fixed" : "it has: " + known);
}

}  // namespace

Graph read_pt2_file(const std::string& path, const Progress& progress) {
  const Candidate file(path);  // says in our words why a path cannot be opened
  return read_first_model(ZipArchive(file.path()), progress);
}

Graph read_pt2(std::span<const std::byte> archive) {
  return read_first_model(ZipArchive(archive), {});
}

Bindings resolve_bindings(const Graph& graph, const Bindings& given) {
  Bindings resolved;
  for (const auto& [name, value] : given) {
    const Dimension* found = graph.dimensions().find(name);
    // Inputs come first, and the first dimension that a user's input has is read first.
    if (!found && name == "batch" && !graph.dimensions().empty()) found = &graph.dimensions()[0];
    if (!found) refuse(graph, name);
    resolved[found->name] = value;
  }
  return resolved;
}

}  // namespace tidemark
