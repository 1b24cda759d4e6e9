// What differs between two tapes.
#pragma once

#include <vector>

#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

struct Difference {
  std::string name;
  std::int64_t before = 0, after = 0;
  bool operator==(const Difference&) const = default;
};

struct DeviceDiff {
  std::string device;
  Difference peak;                     // allocated bytes
  std::vector<Difference> categories;  // at the two peaks; those with bytes in either
  std::vector<Difference> scopes;      // peak inside each scope; only what differs, most first
  std::vector<Difference> ops;         // bytes alive at the peaks by operator; likewise
  bool operator==(const DeviceDiff&) const = default;
};

struct DiffAnswer {
  bool same = true;
  std::vector<DeviceDiff> devices;
  Diagnostics diagnostics;
  bool operator==(const DiffAnswer&) const = default;
};

}  // namespace tidemark
