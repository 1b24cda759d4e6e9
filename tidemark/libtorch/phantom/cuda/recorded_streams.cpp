// Tells the GPU's allocator of a stream that uses a tensor's block.
#include "tidemark/libtorch/phantom/cuda/recorded_streams.h"

#include "tidemark/libtorch/phantom/device/phantom_tensor.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {

bool record_stream(CallFrame& frame) {
  const at::Tensor tensor = frame.arg(0).toTensor();
  const StorageRecord* record =
      is_phantom(tensor) && tensor.has_storage() ? record_of(tensor) : nullptr;
  if (StorageLog* log = record ? storage_log(record->session) : nullptr)
    log->with_allocators([&](DeviceAllocators& all) {
      all.record_stream(record->device, record->block, frame.arg(1).toStream().id());
    });
  frame.drop_args();
  return true;
}

}  // namespace tidemark::phantom
