// Opens the file, and gives dimensions names that people know.
#include "tidemark/readers/pt2/pt2_reader.h"

#include <fstream>
#include <iterator>

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/pt2/archive.h"
#include "tidemark/readers/pt2/model_graph.h"

namespace tidemark {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::NotFound, "the file cannot be opened", path);
  return {std::istreambuf_iterator<char>(in), {}};
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

bool is_pt2_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char beginning[4] = {};
  in.read(beginning, sizeof beginning);
  return in.gcount() == 4 && pt2::looks_like_archive(std::as_bytes(std::span(beginning)));
}

Graph read_pt2(std::span<const std::byte> archive) {
  return pt2::read_model(pt2::read_model_json(archive));
}

Graph read_pt2_file(const std::string& path) {
  const std::string archive = text_of(path);
  return read_pt2(std::as_bytes(std::span(archive)));
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
