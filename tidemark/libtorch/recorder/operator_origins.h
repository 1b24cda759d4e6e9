// Whence an operator is called, and as what it returns the storages it makes.
#pragma once

#include <ATen/record_function.h>

#include <vector>

#include "tidemark/libtorch/recorder/origins.h"

namespace tidemark::recorder {

// At its beginning, before autograd has made its node: the line that calls it, or in a backward the
// line of the forward that it belongs to.
Origin origin_of(const at::RecordFunction& function, CallId call);

void note_shapes(const std::vector<c10::IValue>& results, const Origin& origin);

}  // namespace tidemark::recorder
