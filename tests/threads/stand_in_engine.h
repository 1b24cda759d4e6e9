// A backward as the recorder sees it: the actions it has put on gradients, run on this thread.
#pragma once

#include <functional>

namespace tidemark::recorder {

// Everything that this thread's module calls wait for, last call first; `accumulate` in between.
void run_backward(const std::function<void()>& accumulate);

// Whether PyTorch would be telling of every operator.
bool are_operators_watched();

}  // namespace tidemark::recorder
