// Traces of PyTorch's profiler as an entry of the catalogue, also in builds that cannot read them.
#pragma once

#include "tidemark/readers/reader.h"

namespace tidemark {

extern const Reader kProfilerTrace;

}  // namespace tidemark
