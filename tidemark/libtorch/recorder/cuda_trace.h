// Births and deaths of CUDA memory, told by PyTorch's caching allocator itself.
#pragma once

namespace tidemark::recorder {

// From now on, for the rest of the process. To be called once CUDA is initialized. False where
// the recorder was built without CUDA; throws where the allocator does not tell (cudaMallocAsync).
bool attach_cuda_trace();
bool cuda_trace_is_attached();

}  // namespace tidemark::recorder
