// Phantom tensors: every property of a CUDA tensor but memory. And their twins on the meta device.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "tidemark/engine/allocator/block.h"
#include "tidemark/libtorch/attribution/note.h"

namespace tidemark::phantom {

struct KnownBytes;

// What stands behind a phantom storage instead of memory: the context of its data pointer.
struct StorageRecord {
  c10::DeviceIndex device = 0;
  std::int64_t bytes = 0;
  void* address = nullptr;
  attribution::StorageKey key = 0;
  BlockId block = kNoBlock;           // of the GPU's allocator
  std::uint32_t session = 0;          // whose log knows both
  std::shared_ptr<KnownBytes> known;  // null: nothing is known of the values
};

// A plain CUDA tensor of ours: the CUDA backend bit and no Python key (fake tensors have both). The
// meta tensors that fake tensors are made of may have the bit, and are on the meta device.
inline bool is_phantom(const at::Tensor& tensor) {
  if (!tensor.defined()) return false;
  const auto* impl = tensor.unsafeGetTensorImpl();
  const auto keys = impl->key_set();
  return keys.has_backend(c10::BackendComponent::CUDABit) && !keys.has(c10::DispatchKey::Python) &&
         impl->is_cuda();
}

// The deleter of our storages' pointers: no other storage has it.
void release_phantom(void* context);
// Null for a storage that is not ours.
inline StorageRecord* record_of(const c10::Storage& storage) {
  const c10::DataPtr& pointer = storage.data_ptr();
  if (pointer.get_deleter() != &release_phantom) return nullptr;
  return static_cast<StorageRecord*>(pointer.get_context());
}
inline StorageRecord* record_of(const at::Tensor& tensor) { return record_of(tensor.storage()); }

// A new storage, its birth reported where this thread is in the program, with these flags in its
// note beside those of the place. Throws OutOfMemoryError under that policy.
c10::Storage new_storage(c10::DeviceIndex device, std::int64_t bytes, std::uint8_t more_flags = 0);
// Gives a storage that a meta kernel made an address, a record and a birth; no-op when it has one.
void adopt_storage(const c10::Storage& storage, c10::DeviceIndex device);
// Reports that a storage has grown or shrunk since its record was made.
void settle_size(const c10::Storage& storage);

// What a phantom holds is a gradient from now on; no-op for anything that has no storage of ours.
void label_gradient(const at::Tensor& tensor);

struct TensorLayout {
  c10::IntArrayRef sizes, strides;
  std::int64_t offset = 0;
};
at::Tensor make_phantom(c10::Storage storage, caffe2::TypeMeta dtype, const TensorLayout& layout);
// A new one beside another: on its GPU, with its or another dtype, in rows.
at::Tensor new_phantom(const at::Tensor& beside, c10::IntArrayRef sizes, at::ScalarType dtype);
at::Tensor new_phantom(const at::Tensor& beside, c10::IntArrayRef sizes);
// A view: over the storage of its base, and an inference tensor where that is one, in any mode.
at::Tensor make_view(const at::Tensor& base, caffe2::TypeMeta dtype, const TensorLayout& layout);
// Puts a phantom over another storage, its device unchanged.
void put_over(const at::Tensor& phantom, c10::Storage storage);
// A meta tensor over the same storage object, so that views alias.
at::Tensor make_twin(const at::Tensor& phantom);

}  // namespace tidemark::phantom
