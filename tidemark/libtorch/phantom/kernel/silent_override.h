// Registers a kernel over one that is there: the point of ours, of which PyTorch would warn.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <memory>

namespace tidemark::phantom {

class SilentOverride {
 public:
  SilentOverride() : guard_(&nobody_) {}

  template <class Kernel>
  c10::RegistrationHandleRAII put(const c10::OperatorName& name, c10::DispatchKey key,
                                  std::unique_ptr<Kernel> kernel) {
    return put(name, key, c10::KernelFunction::makeFromBoxedFunctor(std::move(kernel)));
  }

  c10::RegistrationHandleRAII put(const c10::OperatorName& name, c10::DispatchKey key,
                                  c10::KernelFunction kernel) {
    return c10::Dispatcher::singleton().registerImpl(name, key, std::move(kernel), {}, nullptr,
                                                     "tidemark");
  }

 private:
  class Nobody final : public c10::WarningHandler {
   public:
    void process(const c10::Warning&) override {}
  };
  Nobody nobody_;
  c10::WarningUtils::WarningHandlerGuard guard_;
};

}  // namespace tidemark::phantom
