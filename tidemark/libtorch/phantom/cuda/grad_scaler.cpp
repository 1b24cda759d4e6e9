// Keeps GradScaler's answer that nothing overflowed.
#include "tidemark/libtorch/phantom/cuda/grad_scaler.h"

#include "tidemark/libtorch/phantom/cuda/foreach_rules.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {

bool unscale_gradients(CallFrame& frame) {
  if (session_options().on_value == OnValue::Error) return do_nothing(frame);
  for_each_tensor(frame.arg(0), [](const at::Tensor& gradient) { forget(gradient); });
  // Zero, as GradScaler made it; from here on that is only assumed.
  if (KnownBytes* known = known_bytes(frame.arg(1).toTensor()))
    known->certainty = Certainty::Assumed;
  frame.drop_args();
  return true;
}

}  // namespace tidemark::phantom
