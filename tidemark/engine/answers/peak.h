// What the highest moment of each device tells.
#pragma once

#include <vector>

#include "tidemark/engine/answers/alloc.h"
#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

// What one module, or what is outside of all, owns of the storages alive at the peak.
struct ScopeShare {
  std::string scope;  // empty: outside of all
  std::int64_t allocated_bytes = 0;
  CategoryBytes categories{};
  bool operator==(const ScopeShare&) const = default;
};

// Storages of one kind: the same category, operator, source line, size and shape.
struct SiteShare {
  std::int64_t count = 0;
  std::int64_t each_bytes = 0, allocated_bytes = 0;  // of one, of all
  Category category = Category::Unknown;
  std::string op, source, shape;  // "aten::mm", "train.py:12", "bf16[8,1024]"
  std::string scope;              // of the first of them
  bool operator==(const SiteShare&) const = default;
};

// What one source line, or what has none, has made of the storages alive at the peak.
struct LineShare {
  std::string source;  // empty: no line is known
  std::int64_t count = 0, allocated_bytes = 0;
  CategoryBytes categories{};
  bool operator==(const LineShare&) const = default;
};

struct DevicePeak {
  std::string device;
  std::int64_t allocated_bytes = 0, requested_bytes = 0;
  When at;
  CategoryBytes categories{};        // allocated bytes; they sum to allocated_bytes
  std::int64_t alive_count = 0;      // storages alive at the peak
  std::vector<StorageFact> largest;  // the largest of them first
  std::vector<ScopeShare> owners;    // all of them by scope; they sum to allocated_bytes
  std::vector<ScopeShare> modules;   // sums over subtrees, parents before children, outside last
  std::vector<SiteShare> sites;      // the largest first
  std::vector<LineShare> lines;      // the largest first
  std::optional<AllocatorPeak> allocator;  // where it was asked for
  bool operator==(const DevicePeak&) const = default;
};

struct PeakAnswer {
  std::vector<DevicePeak> devices;  // in the tape's order; those without bytes left out
  std::int64_t events = 0, steps = 0;
  Diagnostics diagnostics;
  bool operator==(const PeakAnswer&) const = default;
};

}  // namespace tidemark
