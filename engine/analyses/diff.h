// Two tapes side by side: what grew, by category, scope and operator.
#pragma once

#include <vector>

#include "tidemark/analyses/answer_parts.h"
#include "tidemark/base/diagnostics.h"
#include "tidemark/tape/tape.h"

namespace tidemark {

struct DiffOptions : Selection {
  std::size_t top = 10;  // how many scopes and operators
};

struct Difference {
  std::string name;
  std::int64_t before = 0, after = 0;
};

struct DeviceDiff {
  std::string device;
  Difference peak;                     // allocated bytes
  std::vector<Difference> categories;  // at the two peaks; those with bytes in either
  std::vector<Difference> scopes;      // peak inside each scope; only what differs, most first
  std::vector<Difference> ops;         // bytes alive at the peaks by operator; likewise
};

struct DiffAnswer {
  bool same = true;
  std::vector<DeviceDiff> devices;
  Diagnostics diagnostics;
};

DiffAnswer find_diff(const Tape& before, const Tape& after, const DiffOptions& options = {});

}  // namespace tidemark
