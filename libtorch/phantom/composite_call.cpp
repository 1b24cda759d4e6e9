// On CUDA such a kernel runs as it stands, so what its parts allocate counts.
#include "tidemark/torch/phantom/composite_call.h"

namespace tidemark::phantom {

bool run_parts(CallFrame& frame) {
  constexpr auto kComposite = c10::DispatchKey::CompositeExplicitAutograd;
  if (!frame.op().hasKernelForDispatchKey(kComposite)) return false;
  frame.op().callBoxedForDispatchKey(kComposite, frame.stack());
  return true;
}

}  // namespace tidemark::phantom
