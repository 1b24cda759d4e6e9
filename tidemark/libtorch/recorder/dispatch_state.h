// What PyTorch's dispatch state says about where a thread is: a few instructions, no observer.
#pragma once

#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

namespace tidemark::recorder {

enum class Place { Outside, Operator, Number };

// Autograd switches itself off around every kernel it calls: what happens then is inside an
// operator. So does Python where it makes a tensor of a number that an operator is given; the
// tracer is then off too, and where Python makes tensors for the program itself, so is Python.
inline Place place_by_state() noexcept {
  using c10::DispatchKey;
  const c10::DispatchKeySet off = c10::impl::tls_local_dispatch_key_set().excluded_;
  if (!off.has(DispatchKey::AutogradOther)) return Place::Outside;
  return off.has(DispatchKey::Tracer) && !off.has(DispatchKey::PythonTLSSnapshot) ? Place::Number
                                                                                  : Place::Operator;
}

// False where that is no sign: in inference mode and under functorch, where autograd is off or on
// for other reasons, and where operators are taken apart in Python, with all that is above off.
inline bool state_tells_borders() noexcept {
  using c10::DispatchKey;
  const auto keys = c10::impl::tls_local_dispatch_key_set();
  return !c10::InferenceMode::is_enabled() &&
         !keys.included_.has(DispatchKey::FuncTorchDynamicLayerFrontMode) &&
         !keys.excluded_.has(DispatchKey::Conjugate) &&
         !c10::impl::TorchDispatchModeTLS::any_modes_set();
}

}  // namespace tidemark::recorder
