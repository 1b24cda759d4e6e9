// Mixes arguments into a key, kind by kind.
#include "tidemark/libtorch/phantom/kernel/memo_key.h"

namespace tidemark::phantom {
namespace {

// Tells values of different types and lists of different lengths apart.
enum class Mark : std::uint64_t {
  Undefined = 1,
  Phantom,
  Host,
  None,
  Int,
  Float,
  Bool,
  String,
  Device,
  Generator,
  List,
  Complex,
};

class KeyMaker {
 public:
  std::optional<MemoKey> make(const CallFrame& frame, bool floats_change_shapes) {
    // Whole numbers divided, and what is made without a dtype, take the default one.
    key_.mix(static_cast<std::uint64_t>(c10::get_default_dtype_as_scalartype()));
    // arange(0, 2.5, 0.5): without tensors a float may decide the size.
    exact_floats_ = floats_change_shapes || !frame.touches_phantoms();
    for (std::size_t i = 0; i < frame.count(); ++i)
      if (!mix(frame.arg(i))) return std::nullopt;
    return key_;
  }

  MemoKey make(const std::vector<at::Tensor>& tensors) {
    for (const at::Tensor& tensor : tensors) mix_tensor(tensor);
    return key_;
  }

 private:
  void mark(Mark mark, std::uint64_t detail = 0) {
    key_.mix(static_cast<std::uint64_t>(mark) << 56 ^ detail);
  }

  void mix_tensor(const at::Tensor& tensor) {
    if (!tensor.defined()) return mark(Mark::Undefined);
    const auto* impl = tensor.unsafeGetTensorImpl();
    const bool phantom = is_phantom(tensor);
    mark(phantom ? Mark::Phantom : Mark::Host,
         static_cast<std::uint64_t>(tensor.scalar_type()) | impl->dim() << 8 |
             static_cast<std::uint64_t>(impl->is_wrapped_number()) << 24 |
             static_cast<std::uint64_t>(impl->is_conj()) << 25 |
             static_cast<std::uint64_t>(impl->is_neg()) << 26 |
             static_cast<std::uint64_t>(tensor.device().type()) << 32);
    for (std::int64_t size : impl->sizes()) key_.mix(static_cast<std::uint64_t>(size));
    for (std::int64_t stride : impl->strides()) key_.mix(static_cast<std::uint64_t>(stride));
    if (!phantom) return;
    key_.mix(static_cast<std::uint64_t>(impl->storage_offset()));
    key_.mix(impl->storage().nbytes());
    mix_aliasing(impl->storage().unsafeGetStorageImpl());
  }

  // Arguments that share a storage are another call than ones that do not. Long lists (foreach
  // operators, which return no views) are compared with the first few only.
  void mix_aliasing(const void* storage) {
    for (std::size_t i = 0; i < seen_; ++i)
      if (storages_[i] == storage) return key_.mix(i + 1);
    if (seen_ < storages_.size()) storages_[seen_++] = storage;
  }

  bool mix(const c10::IValue& value) {
    if (value.isTensor()) mix_tensor(value.toTensor());
    else if (value.isNone()) mark(Mark::None);
    else if (value.isInt()) mark(Mark::Int), key_.mix(static_cast<std::uint64_t>(value.toInt()));
    else if (value.isDouble()) mix_float(value.toDouble());
    else if (value.isBool()) mark(Mark::Bool, value.toBool());
    else if (value.isComplexDouble()) mix_complex(value.toComplexDouble());
    else if (value.isString()) mix_string(value.toStringRef());
    else if (value.isDevice())
      mark(Mark::Device, static_cast<std::uint64_t>(value.toDevice().type()));
    else if (value.isGenerator()) mark(Mark::Generator);
    else if (value.isList()) return mix_list(value);
    else return false;
    return true;
  }

  // Dropout with a probability of zero returns its input, with one zeros.
  void mix_float(double value) {
    if (exact_floats_) return mark(Mark::Float, 3), key_.mix(std::bit_cast<std::uint64_t>(value));
    mark(Mark::Float, value == 0 ? 0 : value == 1 ? 1 : 2);
  }

  void mix_complex(c10::complex<double> value) {
    mark(Mark::Complex);
    if (!exact_floats_) return;
    key_.mix(std::bit_cast<std::uint64_t>(value.real()));
    key_.mix(std::bit_cast<std::uint64_t>(value.imag()));
  }

  void mix_string(const std::string& text) {
    mark(Mark::String, std::hash<std::string>{}(text) >> 8);
  }

  bool mix_list(const c10::IValue& list) {
    const auto values = list.toListRef();
    mark(Mark::List, values.size());
    for (const c10::IValue& value : values)
      if (!mix(value)) return false;
    return true;
  }

  MemoKey key_;
  bool exact_floats_ = false;
  std::array<const void*, 8> storages_{};
  std::size_t seen_ = 0;
};

}  // namespace

std::optional<MemoKey> memo_key(const CallFrame& frame, bool floats_change_shapes) {
  return KeyMaker().make(frame, floats_change_shapes);
}

MemoKey layout_key(const std::vector<at::Tensor>& tensors) { return KeyMaker().make(tensors); }

}  // namespace tidemark::phantom
