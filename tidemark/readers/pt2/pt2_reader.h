// Exported models (.pt2, written by torch.export.save) as graphs, without torch.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tidemark/engine/graph/graph.h"
#include "tidemark/readers/reader.h"

namespace tidemark {

// Of an archive that is opened by its path only the model's JSON is read, never a weight. Throws
// Error for what cannot be read. Views and in-place writes are told from the operators; what the
// archive does not say, or what is not understood, is a diagnostic of the graph.
Graph read_pt2_file(const std::string& path, const Progress& progress = {});
Graph read_pt2(std::span<const std::byte> archive);

// Values by the names of dimensions. "batch" is the first dimension that an input has, unless one
// is called so: archives do not keep the names that people gave. Throws Error(BadArgument) for a
// name that is not of this model, and says which are.
Bindings resolve_bindings(const Graph& graph, const Bindings& given);

}  // namespace tidemark
