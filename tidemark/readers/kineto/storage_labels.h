// What somebody else knows of the storages of a trace: categories, and what was there before.
#pragma once

#include <vector>

#include "tidemark/engine/base/category.h"
#include "tidemark/readers/kineto/trace_rows.h"

namespace tidemark::kineto {

// A storage that was there before the trace began.
struct EarlierStorage {
  DeviceId device;  // of TraceContents::devices
  std::int64_t bytes = 0;
  Category category = Category::Unknown;
  std::int64_t last_use_ns = 0;
};

struct NewLabel {
  std::int64_t time_ns = 0;
  std::uint32_t memory_row = kNoNumber;  // of the birth; none: an earlier storage
  std::uint32_t earlier = kNoNumber;
  Category category = Category::Unknown;
};

// Rows are of a sorted trace.
struct StorageLabels {
  std::vector<Category> births;  // by memory row; empty where nothing is known
  std::vector<EarlierStorage> earlier;
  std::vector<NewLabel> changes;  // by time
};

}  // namespace tidemark::kineto
