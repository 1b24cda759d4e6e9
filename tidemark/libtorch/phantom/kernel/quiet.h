// Calls of our own that no mode, subclass or autocast of the user may see.
#pragma once

#include <ATen/PythonTorchFunctionTLS.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace tidemark::phantom {

// Meta kernels are often Python decompositions; a `torch.device` context, a dispatch mode or
// autocast would otherwise see their inner operators.
class QuietPython {
 public:
  QuietPython() : before_(at::impl::PythonTorchFunctionTLS::get_state()) {
    at::impl::PythonTorchFunctionTLS::set_state(at::impl::PythonTorchFunctionTLS());
    at::impl::PythonTorchFunctionTLS::set_disabled_state(
        at::impl::TorchFunctionDisabledState::ALL_DISABLED);
  }
  ~QuietPython() { at::impl::PythonTorchFunctionTLS::set_state(before_); }
  QuietPython(const QuietPython&) = delete;
  QuietPython& operator=(const QuietPython&) = delete;

 private:
  at::impl::PythonTorchFunctionTLS before_;
  c10::impl::ExcludeDispatchKeyGuard python_{c10::DispatchKey::Python};
  c10::impl::ExcludeDispatchKeyGuard snapshot_{c10::DispatchKey::PythonTLSSnapshot};
  c10::impl::ExcludeDispatchKeyGuard autocast_cuda_{c10::DispatchKey::AutocastCUDA};
  c10::impl::ExcludeDispatchKeyGuard autocast_cpu_{c10::DispatchKey::AutocastCPU};
};

}  // namespace tidemark::phantom
