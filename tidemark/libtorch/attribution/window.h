// A stretch of time whose highest moment is wanted, of forward or of backward samples.
#pragma once

#include <cstdint>

#include "tidemark/libtorch/attribution/row.h"

namespace tidemark::attribution {

struct Window {
  Rows highest;
  std::int64_t since = 0;
  bool in_backward = false, is_open = false;
};

}  // namespace tidemark::attribution
