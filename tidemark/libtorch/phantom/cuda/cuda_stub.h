// PyTorch's tables of device kernels ("dispatch stubs"): the place for CUDA's in one of them.
#pragma once

#include <ATen/native/DispatchStub.h>

namespace tidemark::phantom {

// A stub is one struct of function pointers; reading CUDA's old one is the only way to put it back
// on a build that has it.
template <class Stub>
void*& cuda_pointer(Stub& stub) {
  static_assert(sizeof(stub) == sizeof(at::native::DispatchStubImpl));
  return reinterpret_cast<at::native::DispatchStubImpl&>(stub).cuda_dispatch_ptr;
}

}  // namespace tidemark::phantom
