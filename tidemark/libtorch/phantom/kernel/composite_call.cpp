// On CUDA such a kernel runs as it stands, so what its parts allocate counts.
#include "tidemark/libtorch/phantom/kernel/composite_call.h"

#include <algorithm>
#include <array>

namespace tidemark::phantom {

namespace {

constexpr std::array kKeys = {c10::DispatchKey::CompositeExplicitAutograd,
                              c10::DispatchKey::CompositeExplicitAutogradNonFunctional};

}  // namespace

bool has_parts(const c10::OperatorHandle& op) {
  return std::any_of(kKeys.begin(), kKeys.end(),
                     [&](auto key) { return op.hasKernelForDispatchKey(key); });
}

bool run_parts(CallFrame& frame) {
  for (const auto key : kKeys) {
    if (!frame.op().hasKernelForDispatchKey(key)) continue;
    frame.op().callBoxedForDispatchKey(key, frame.stack());
    return true;
  }
  return false;
}

bool run_shared_kernel(CallFrame& frame) {
  frame.op().callBoxedForDispatchKey(c10::DispatchKey::CPU, frame.stack());
  return true;
}

}  // namespace tidemark::phantom
