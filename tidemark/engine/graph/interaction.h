// A forward and a backward graph as one run: what stays alive from the one to the other.
#pragma once

#include <span>
#include <vector>

#include "tidemark/engine/graph/accounts.h"

namespace tidemark {

struct JointGraphs {
  const Graph* forward = nullptr;
  const Graph* backward = nullptr;
  std::vector<StorageId> same;  // by storage of the backward: that of the forward, or none
  std::vector<NodeId> primals;  // inputs of the forward that the caller keeps
};

struct Interaction {
  std::int64_t baseline_bytes = 0;  // returned by the forward, not taken by the backward
  // Inputs of the backward that it must not release: they are the caller's, or come from outside.
  std::vector<NodeId> not_releasable;
};

// Only the sizes of the options matter here.
Interaction find_interaction(const JointGraphs& graphs, const GraphOptions& options = {});

struct JointPeak {
  std::int64_t bytes = 0;
  std::int64_t forward_bytes = 0, backward_bytes = 0;  // the backward's with the baseline
  bool is_in_backward = false;
};

// The options' `donated` and `releasable` are not used: what may be released follows from the pair.
JointPeak find_joint_peak(const JointGraphs& graphs, const GraphOptions& options = {});

}  // namespace tidemark
