// The pieces that answers share. Answers are plain: names, not ids, so that they outlive the tape.
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/engine/base/category.h"

namespace tidemark {

// When and where something happened; empty strings where it is not known.
struct When {
  std::int64_t event = -1;
  std::int64_t time_ns = 0;
  std::int64_t step = 0;  // 0 is what comes before step 1
  Phase phase = Phase::Other;
  std::string scope, op, source;  // "layers.0.attn", "aten::mm", "train.py:12"
  bool operator==(const When&) const = default;
};

struct StorageFact {
  std::int64_t storage = 0;  // the number in the tape
  std::int64_t allocated_bytes = 0, requested_bytes = 0;
  Category category = Category::Unknown;
  std::string device;
  When born;
  bool operator==(const StorageFact&) const = default;
};

}  // namespace tidemark
