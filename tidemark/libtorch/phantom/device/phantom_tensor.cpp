// Makes phantom storages (an address that is never mapped, a record) and the tensors over them.
#include "tidemark/libtorch/phantom/device/phantom_tensor.h"

#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>

#include "tidemark/libtorch/phantom/device/addresses.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/log/where.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

void hold(StorageRecord& record, const Holding& held) {
  record.key = held.key;
  record.block = held.block;
}

c10::DataPtr new_pointer(c10::DeviceIndex device, std::int64_t bytes, std::uint8_t more_flags = 0) {
  auto record = std::make_unique<StorageRecord>();
  record->device = device;
  record->bytes = bytes;
  record->session = session_number();
  if (StorageLog* log = storage_log())
    hold(*record, log->born(device, bytes, current_whence(), more_flags));
  void* address = record->address = bytes > 0 ? next_address(bytes) : nullptr;
  report_memory(device, address, bytes);
  // The pointer says "meta": views that meta kernels make of a twin take their device from it.
  return {address, record.release(), &release_phantom, c10::Device(c10::DeviceType::Meta)};
}

// For storages that PyTorch itself resizes or makes from one of ours.
class PhantomAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    return new_pointer(current_device(), static_cast<std::int64_t>(size));
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void*, const void*, std::size_t) const override {}
};

c10::Allocator* phantom_allocator() {
  static PhantomAllocator allocator;
  return &allocator;
}

// Of a tensor itself, not of its views.
constexpr c10::DispatchKeySet kLazyKeys{c10::DispatchKey::Conjugate, c10::DispatchKey::Negative,
                                        c10::DispatchKey::ZeroTensor};

// Reaches the members that only a TensorImpl may set.
class LayoutImpl final : public c10::TensorImpl {
 public:
  LayoutImpl(c10::Storage storage, c10::DispatchKey key, caffe2::TypeMeta dtype, c10::Device device,
             const TensorLayout& layout)
      : c10::TensorImpl(c10::DispatchKeySet(key), dtype, device) {
    storage_ = std::move(storage);
    storage_access_should_throw_ = false;
    set_sizes_and_strides(layout.sizes, layout.strides, layout.offset);
  }

  // The keys say whether it is an inference tensor; this constructor leaves them as they are.
  LayoutImpl(const at::Tensor& base, caffe2::TypeMeta dtype, const TensorLayout& layout)
      : c10::TensorImpl(VIEW, c10::Storage(base.storage()), base.key_set() - kLazyKeys, dtype) {
    device_opt_ = base.device();
    set_sizes_and_strides(layout.sizes, layout.strides, layout.offset);
  }

  // TensorImpl's own setters take the device from the storage, and ours say "meta".
  static void set_storage(c10::TensorImpl& impl, c10::Storage storage) {
    impl.*(&LayoutImpl::storage_) = std::move(storage);
  }
};

}  // namespace

void release_phantom(void* context) {
  auto* record = static_cast<StorageRecord*>(context);
  if (StorageLog* log = storage_log(record->session))
    log->died({record->key, record->block}, record->device);
  report_memory(record->device, record->address, -record->bytes);
  delete record;
}

c10::Storage new_storage(c10::DeviceIndex device, std::int64_t bytes, std::uint8_t more_flags) {
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes, new_pointer(device, bytes, more_flags),
      phantom_allocator(), /*resizable=*/true));
}

void adopt_storage(const c10::Storage& storage, c10::DeviceIndex device) {
  if (record_of(storage)) return;
  auto* impl = storage.unsafeGetStorageImpl();
  impl->set_data_ptr_noswap(new_pointer(device, static_cast<std::int64_t>(impl->nbytes())));
  impl->set_allocator(phantom_allocator());
}

void settle_size(const c10::Storage& storage) {
  StorageRecord* record = record_of(storage);
  const auto bytes = static_cast<std::int64_t>(storage.nbytes());
  if (!record || record->bytes == bytes) return;
  if (StorageLog* log = storage_log(record->session))
    hold(*record,
         log->resized({record->key, record->block}, record->device, bytes, current_whence()));
  record->bytes = bytes;
  record->known.reset();
}

void label_gradient(const at::Tensor& tensor) {
  if (!is_phantom(tensor) || !tensor.has_storage()) return;
  const StorageRecord* record = record_of(tensor);
  StorageLog* log = record ? storage_log(record->session) : nullptr;
  if (!log) return;
  const at::Tensor leaf = leaf_of_gradient();
  const bool is_known = leaf.defined() && is_phantom(leaf) && leaf.has_storage();
  const StorageRecord* of_leaf = is_known ? record_of(leaf) : nullptr;
  log->take_gradient(record->key, of_leaf ? of_leaf->key : 0);
}

at::Tensor make_phantom(c10::Storage storage, caffe2::TypeMeta dtype, const TensorLayout& layout) {
  const c10::Device device(c10::DeviceType::CUDA, record_of(storage)->device);
  return at::Tensor(c10::make_intrusive<LayoutImpl>(std::move(storage), c10::DispatchKey::CUDA,
                                                    dtype, device, layout));
}

at::Tensor new_phantom(const at::Tensor& beside, c10::IntArrayRef sizes, at::ScalarType dtype) {
  const auto type = c10::scalarTypeToTypeMeta(dtype);
  const auto bytes = c10::multiply_integers(sizes) * static_cast<std::int64_t>(type.itemsize());
  return make_phantom(new_storage(beside.device().index(), bytes), type,
                      {sizes, c10::contiguous_strides(sizes), 0});
}

at::Tensor new_phantom(const at::Tensor& beside, c10::IntArrayRef sizes) {
  return new_phantom(beside, sizes, beside.scalar_type());
}

at::Tensor make_view(const at::Tensor& base, caffe2::TypeMeta dtype, const TensorLayout& layout) {
  return at::Tensor(c10::make_intrusive<LayoutImpl>(base, dtype, layout));
}

void put_over(const at::Tensor& phantom, c10::Storage storage) {
  LayoutImpl::set_storage(*phantom.unsafeGetTensorImpl(), std::move(storage));
}

at::Tensor make_twin(const at::Tensor& phantom) {
  auto* impl = phantom.unsafeGetTensorImpl();
  at::Tensor twin(c10::make_intrusive<LayoutImpl>(
      impl->storage(), c10::DispatchKey::Meta, impl->dtype(), c10::Device(c10::DeviceType::Meta),
      TensorLayout{impl->sizes(), impl->strides(), impl->storage_offset()}));
  if (impl->is_wrapped_number()) twin.unsafeGetTensorImpl()->set_wrapped_number(true);
  // Conjugate and negative bits are dispatch keys; a twin must have them to be resolved alike.
  if (impl->is_conj()) twin._set_conj(true);
  if (impl->is_neg()) twin._set_neg(true);
  return twin;
}

}  // namespace tidemark::phantom
