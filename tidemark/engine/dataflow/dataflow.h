// The memory profile of a recorded run: keys, sizes, data flow, categories and timeline in one.
#pragma once

#include <memory>
#include <vector>

#include "tidemark/engine/dataflow/timeline.h"

namespace tidemark::dataflow {

enum class Identity : std::uint8_t {
  // The recorder's where it gave ids; found where it gave none, or where its own do not add up.
  Recorded,
  // Found, so that no two storages are one because they had the same address.
  Found,
};

struct Options {
  Identity identity = Identity::Recorded;
};

struct Dataflow {
  Recording recording;
  Tree tree;
  Keys keys;
  std::vector<std::int64_t> sizes;  // by key; kUnknownBytes: nobody knows
  Flow flow;
  Labels labels;
  std::vector<Entry> timeline;
  Diagnostics diagnostics;
  Identity identity = Identity::Recorded;  // whose ids these are

  Known known() const { return {recording, tree, keys, flow}; }
};

// The result does not move: its parts refer to each other.
std::unique_ptr<const Dataflow> find_dataflow(Recording recording, const SchemaSource& schemas,
                                              const Options& options = {});

}  // namespace tidemark::dataflow
