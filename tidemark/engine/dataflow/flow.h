// The data-flow graph of a run: its outermost operators, and which version of what each one uses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/dataflow/matching.h"

namespace tidemark::dataflow {

inline constexpr std::int32_t kNoVersion = -1;

enum class Change : std::uint8_t { None, Written, Deleted };

// What a node does to a storage.
struct Edge {
  KeyId key;
  std::int32_t input_version = kNoVersion;  // none: the node allocates it
  Change change = Change::None;

  bool is_allocation() const { return input_version == kNoVersion; }
  bool is_deletion() const { return change == Change::Deleted; }
  bool is_input() const { return !is_allocation(); }
  bool is_intermediate() const { return is_allocation() && is_deletion(); }
  bool is_output() const {
    return change == Change::Written || (is_allocation() && change != Change::Deleted);
  }
  // Of an output.
  std::int32_t output_version() const { return input_version + 1; }
  bool operator==(const Edge&) const = default;
};

struct Flow {
  std::vector<Position> nodes;             // where the nodes' events are, by time
  std::vector<std::uint32_t> edges_begin;  // by node, and one more: where its edges are
  std::vector<Edge> edges;                 // sorted by key within a node
  std::vector<std::int32_t> versions;      // by key: the highest

  std::span<const Edge> edges_of(std::size_t node) const {
    return {edges.data() + edges_begin[node], edges.data() + edges_begin[node + 1]};
  }
};

// Where PyTorch gives up there is a diagnostic, and the node is taken as it is.
Flow find_flow(const Recording& recording, const Tree& tree, const Keys& keys,
               const SchemaSource& schemas, Diagnostics& diagnostics);

}  // namespace tidemark::dataflow
