// The few things of torch that the recorder calls, for tests that build it without torch.
//
// libtorch is not built for the thread sanitizer, which would then see its reads and writes in part
// and report what is none. Here everything is: what is thread-local in torch is thread-local, what
// torch reads without a lock is a relaxed atomic, so that it orders nothing for us.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

enum class DeviceType : std::int8_t { CPU, CUDA, Meta };
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kMeta = DeviceType::Meta;

struct Device {
  DeviceType type = DeviceType::CPU;
  bool is_cpu() const { return type == DeviceType::CPU; }
  bool is_cuda() const { return type == DeviceType::CUDA; }
  bool is_meta() const { return type == DeviceType::Meta; }
  std::string str() const { return is_cpu() ? "cpu" : is_cuda() ? "cuda:0" : "meta"; }
};

using DeleterFnPtr = void (*)(void*);

class DataPtr {
 public:
  DataPtr() = default;
  DataPtr(void* data, void* context, DeleterFnPtr deleter, Device device)
      : data_(data), context_(context, deleter), device_(device) {}
  void* get() const { return data_; }
  void* get_context() const { return context_.get(); }
  DeleterFnPtr get_deleter() const { return context_.get_deleter(); }
  Device device() const { return device_; }
  bool compare_exchange_deleter(DeleterFnPtr expected, DeleterFnPtr wanted) {
    if (context_.get_deleter() != expected) return false;
    context_ = {context_.release(), wanted};
    return true;
  }

 private:
  static void keep(void*) {}
  void* data_ = nullptr;
  std::unique_ptr<void, DeleterFnPtr> context_{nullptr, &keep};
  Device device_;
};

struct Allocator {
  virtual ~Allocator() = default;
  virtual DataPtr allocate(std::size_t bytes) = 0;
  virtual DeleterFnPtr raw_deleter() const { return nullptr; }
  virtual bool is_simple_data_ptr(const DataPtr&) const { return true; }
  virtual void copy_data(void* to, const void* from, std::size_t bytes) const = 0;
};

Allocator* GetAllocator(DeviceType type);
void SetAllocator(DeviceType type, Allocator* allocator, std::uint8_t priority = 0);

class StorageImpl {
 public:
  StorageImpl(DataPtr data, std::size_t bytes, Allocator* allocator)
      : data_(std::move(data)), bytes_(bytes), allocator_(allocator) {}
  const DataPtr& data_ptr() const { return data_; }
  DataPtr& _mutable_data_ptr_no_checks() { return data_; }
  void set_data_ptr_noswap(DataPtr&& data) { data_ = std::move(data); }
  std::size_t nbytes() const { return bytes_; }
  Device device() const { return data_.device(); }
  Allocator* allocator() const { return allocator_; }
  void set_allocator(Allocator* allocator) { allocator_ = allocator; }

 private:
  DataPtr data_;
  std::size_t bytes_;
  Allocator* allocator_;
};

enum class DispatchKey {
  AutogradOther,
  Meta,
  Tracer,
  PythonTLSSnapshot,
  FuncTorchDynamicLayerFrontMode,
  Conjugate,
  Python
};
struct DispatchKeySet {
  unsigned bits = 0;
  bool has(DispatchKey key) const { return bits >> static_cast<unsigned>(key) & 1; }
};
inline thread_local bool t_inference_mode = false;
struct InferenceMode {
  static bool is_enabled() { return t_inference_mode; }
};
class OperatorHandle;

namespace impl {
struct LocalKeys {
  DispatchKeySet included_, excluded_;
};
inline thread_local LocalKeys t_keys;
inline LocalKeys tls_local_dispatch_key_set() { return t_keys; }
struct TorchDispatchModeTLS {
  static bool any_modes_set() { return false; }
};
}  // namespace impl

template <class T, std::size_t>
struct SmallVector : std::vector<T> {
  using std::vector<T>::vector;
};

}  // namespace c10

namespace torch::dynamo::autograd {
class CompiledNodeArgs;
class SwapSavedVariables;
}  // namespace torch::dynamo::autograd

namespace at {
class Tensor;
}

namespace torch::autograd {

struct PostAccumulateGradHook {
  virtual ~PostAccumulateGradHook() = default;
  virtual void operator()(const at::Tensor& leaf) = 0;
  virtual void compiled_args(dynamo::autograd::CompiledNodeArgs&) const {}
  virtual void apply_with_saved(at::Tensor&, dynamo::autograd::SwapSavedVariables&) {}
};

inline thread_local int t_graph_task = -1;
inline int get_current_graph_task_id() { return t_graph_task; }

}  // namespace torch::autograd

namespace c10 {

struct UndefinedTensorImpl;
struct TensorImpl {
  std::shared_ptr<StorageImpl> storage;
  bool requires_grad = false;
  std::shared_ptr<TensorImpl> gradient;
  std::unique_ptr<torch::autograd::PostAccumulateGradHook> accumulated;
};

template <class T, class>
struct weak_intrusive_ptr : std::weak_ptr<T> {
  explicit weak_intrusive_ptr(const std::shared_ptr<T>& target) : std::weak_ptr<T>(target) {}
};

enum class Layout { Strided, Sparse, SparseCsr, SparseBsr, SparseCsc, SparseBsc };

}  // namespace c10

namespace at {

constexpr c10::Layout kStrided = c10::Layout::Strided, kSparse = c10::Layout::Sparse,
                      kSparseCsr = c10::Layout::SparseCsr, kSparseBsr = c10::Layout::SparseBsr,
                      kSparseCsc = c10::Layout::SparseCsc, kSparseBsc = c10::Layout::SparseBsc;

struct Storage {
  c10::StorageImpl* impl;
  c10::StorageImpl* unsafeGetStorageImpl() const { return impl; }
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<c10::TensorImpl> impl) : impl_(std::move(impl)) {}
  bool defined() const { return impl_ != nullptr; }
  bool requires_grad() const { return impl_ && impl_->requires_grad; }
  bool is_leaf() const { return true; }
  c10::Layout layout() const { return c10::Layout::Strided; }
  bool has_storage() const { return true; }
  Storage storage() const { return {impl_->storage.get()}; }
  c10::Device device() const { return impl_->storage->device(); }
  c10::DispatchKeySet key_set() const { return {}; }
  Tensor grad() const { return Tensor(impl_->gradient); }
  const std::shared_ptr<c10::TensorImpl>& getIntrusivePtr() const { return impl_; }
  c10::TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  Tensor _indices() const { return *this; }
  Tensor _values() const { return *this; }
  Tensor values() const { return *this; }
  Tensor crow_indices() const { return *this; }
  Tensor col_indices() const { return *this; }
  Tensor ccol_indices() const { return *this; }
  Tensor row_indices() const { return *this; }

 private:
  std::shared_ptr<c10::TensorImpl> impl_;
};

class TensorList {
 public:
  TensorList(const Tensor& one) : tensors_(&one, 1) {}
  TensorList(const std::vector<Tensor>& all) : tensors_(all) {}
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }
  std::size_t size() const { return tensors_.size(); }

 private:
  std::span<const Tensor> tensors_;
};

inline thread_local bool t_grad_mode = true;
struct GradMode {
  static bool is_enabled() { return t_grad_mode; }
};

namespace sequence_number {
inline thread_local std::uint64_t t_next = 0;
inline std::uint64_t peek() { return t_next; }
}  // namespace sequence_number

}  // namespace at

namespace torch::autograd::impl {
inline std::unique_ptr<PostAccumulateGradHook>& post_acc_grad_hooks(const at::Tensor& leaf) {
  return leaf.unsafeGetTensorImpl()->accumulated;
}
}  // namespace torch::autograd::impl
