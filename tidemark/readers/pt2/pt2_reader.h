// Exported models (.pt2, written by torch.export.save) as graphs, without torch.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "tidemark/engine/graph/graph.h"

namespace tidemark {

// True for a file that begins as a .pt2 archive does.
bool is_pt2_file(const std::string& path);

// Throws Error for what cannot be read. Views and in-place writes are told from the operators.
Graph read_pt2(std::span<const std::byte> archive);
Graph read_pt2_file(const std::string& path);

using Bindings = std::map<std::string, std::int64_t, std::less<>>;

// Values by the names of dimensions. "batch" is the first dimension that an input has, unless one
// is called so: archives do not keep the names that people gave. Throws Error(BadArgument) for a
// name that is not of this model, and says which are.
Bindings resolve_bindings(const Graph& graph, const Bindings& given);

}  // namespace tidemark
