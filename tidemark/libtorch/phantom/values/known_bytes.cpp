// Keeps CPU buffers beside phantom storages, and lets operators run on them.
#include "tidemark/libtorch/phantom/values/known_bytes.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/CPUAllocator.h>

#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/kernel/written_arguments.h"
#include "tidemark/libtorch/phantom/values/hollow_memory.h"
#include "tidemark/libtorch/phantom/values/host_certainty.h"
#include "tidemark/libtorch/phantom/values/own_randomness.h"
#include "tidemark/libtorch/phantom/values/whole_storage.h"

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kMostWholeBytes = std::int64_t{64} << 20;
constexpr std::int64_t kMostFloatBytes = 16 << 10;

at::Tensor with_layout_of(const at::Tensor& bytes, const at::Tensor& like) {
  at::Tensor view = at::empty({0}, like.options().device(at::kCPU));
  view.unsafeGetTensorImpl()->set_storage_keep_dtype(bytes.storage());
  view.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(),
                                                    like.storage_offset());
  return view;
}

KnownBytes& make_known(StorageRecord& record, Certainty certainty) {
  record.known = std::make_shared<KnownBytes>();
  record.known->bytes = at::zeros({record.bytes}, at::TensorOptions().dtype(at::kByte));
  record.known->certainty = certainty;
  return *record.known;
}

// Operators that overwrite their first argument whatever was in it.
bool overwrites(const std::string& name) {
  static const std::vector<std::string> kNames = {"aten::zero_", "aten::fill_", "aten::copy_"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool reads_storage_of(const at::Tensor& target, const c10::IValue& source) {
  return source.isTensor() && source.toTensor().defined() && source.toTensor().has_storage() &&
         source.toTensor().is_alias_of(target);
}

// Gives a storage that is about to be overwritten a buffer to write into. What was assumed there
// counts no more.
void prepare_overwrite(const c10::OperatorHandle& op, const std::vector<c10::IValue>& args) {
  if (args.empty() || !args[0].isTensor() || !overwrites(op.schema().name())) return;
  const at::Tensor& target = args[0].toTensor();
  if (!is_phantom(target) || !covers_storage(target)) return;
  StorageRecord* record = record_of(target);
  if (!record || (args.size() > 1 && reads_storage_of(target, args[1]))) return;
  if (record->known) record->known->certainty = Certainty::Known;
  else if (worth_knowing(target.scalar_type(), record->bytes))
    make_known(*record, Certainty::Known);
}

bool all_known(const std::vector<c10::IValue>& args) {
  bool all = true;
  for (const c10::IValue& value : args)
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      all = all && (!tensor.defined() || has_known_values(tensor));
    });
  return all;
}

c10::IValue value_on_host(const c10::IValue& value) {
  if (value.isDevice()) return c10::Device(c10::DeviceType::CPU);
  if (value.isGenerator()) return {};
  return with_tensors(value, [](const at::Tensor& tensor) {
    return is_phantom(tensor) ? known_values(tensor) : tensor;
  });
}

template <class Visit>
void for_each_written(const c10::OperatorHandle& op, const std::vector<c10::IValue>& args,
                      Visit&& visit) {
  for (std::size_t i = 0; i < args.size(); ++i)
    if (writes_argument(op, i))
      for_each_tensor(args[i], [&](const at::Tensor& tensor) {
        if (is_phantom(tensor)) visit(tensor);
      });
}

// What was computed from assumed values is assumed, in written arguments too.
void mark_written(const c10::OperatorHandle& op, const std::vector<c10::IValue>& args,
                  Certainty certainty) {
  for_each_written(op, args, [&](const at::Tensor& tensor) {
    if (KnownBytes* known = known_bytes(tensor)) known->certainty = certainty;
  });
}

bool is_assumed(const at::Tensor& tensor) {
  if (!is_phantom(tensor))
    return tensor.device().is_cpu() && (is_assumed_on_host(tensor) || has_lost_values(tensor));
  const KnownBytes* known = known_bytes(tensor);
  return known && known->certainty == Certainty::Assumed;
}

void take_values(const at::Tensor& phantom, const at::Tensor& values, Certainty certainty) {
  if (!is_phantom(phantom) || !values.defined() || !values.device().is_cpu()) return;
  if (KnownBytes* known = known_bytes(phantom)) {
    known->certainty = certainty;  // a view or the written argument: its buffer has the values
    return;
  }
  if (covers_storage(phantom) && phantom.sizes() == values.sizes())
    set_known(phantom, values, certainty);
}

}  // namespace

Certainty certainty_of(const std::vector<c10::IValue>& args) {
  Certainty all = Certainty::Known;
  for (const c10::IValue& value : args)
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      if (tensor.defined() && is_assumed(tensor)) all = Certainty::Assumed;
    });
  return all;
}

torch::jit::Stack on_host(const std::vector<c10::IValue>& args) {
  torch::jit::Stack stack;
  for (const c10::IValue& value : args) stack.push_back(value_on_host(value));
  return stack;
}

bool worth_knowing(at::ScalarType dtype, std::int64_t storage_bytes) {
  if (at::isIntegralType(dtype, /*includeBool=*/true)) return storage_bytes <= kMostWholeBytes;
  return (at::isFloatingType(dtype) || at::isComplexType(dtype)) &&
         storage_bytes <= kMostFloatBytes;
}

bool has_known_values(const at::Tensor& tensor) {
  if (is_phantom(tensor)) return has_known_values_of_phantom(tensor);
  return tensor.device().is_cpu() && tensor.layout() == at::kStrided;
}

at::Tensor known_values(const at::Tensor& phantom) {
  const KnownBytes* known = known_bytes(phantom);
  at::Tensor values = known ? with_layout_of(known->bytes, phantom)
                            : at::empty_strided(phantom.sizes(), phantom.strides(),
                                                phantom.options().device(at::kCPU));
  if (phantom.is_conj()) values._set_conj(true);
  if (phantom.is_neg()) values._set_neg(true);
  if (phantom.unsafeGetTensorImpl()->is_wrapped_number())
    values.unsafeGetTensorImpl()->set_wrapped_number(true);
  return values;
}

void set_known(const at::Tensor& phantom, const at::Tensor& values, Certainty certainty) {
  StorageRecord* record = record_of(phantom);
  if (!record || !worth_knowing(phantom.scalar_type(), record->bytes)) return;
  KnownBytes& known = make_known(*record, certainty);
  at::AutoDispatchBelowADInplaceOrView below;
  with_layout_of(known.bytes, phantom).copy_(values);
}

at::Tensor shape_on_host(const at::Tensor& tensor) {
  at::AutoDispatchBelowADInplaceOrView below;
  QuietPython quiet;
  return at::zeros({}, tensor.options().device(at::kCPU)).expand(tensor.sizes());
}

at::Tensor log_sigmoid_buffer_on_host(const at::Tensor& input) {
  at::AutoDispatchBelowADInplaceOrView below;
  QuietPython quiet;
  return std::get<1>(at::log_sigmoid_forward(is_phantom(input) ? known_values(input) : input));
}

void forget(const at::Tensor& phantom) {
  if (StorageRecord* record = record_of(phantom)) record->known.reset();
}

void multiply_known(const at::Tensor& tensor, std::int64_t factor) {
  if (!has_known_values(tensor) || tensor.scalar_type() == at::kBool) return;
  at::AutoDispatchBelowADInplaceOrView below;
  QuietPython quiet;
  (is_phantom(tensor) ? known_values(tensor) : tensor).mul_(factor);
}

void make_assumed(const at::Tensor& tensor) {
  if (!is_phantom(tensor)) return tensor.has_storage() ? mark_assumed_on_host(tensor) : void();
  if (KnownBytes* known = known_bytes(tensor)) known->certainty = Certainty::Assumed;
}

void compute_known(CallFrame& frame, const std::vector<c10::IValue>& args, bool is_random) {
  prepare_overwrite(frame.op(), args);
  if (!all_known(args)) return forget_written(frame.op(), args);
  Certainty certainty = is_random ? Certainty::Assumed : certainty_of(args);
  torch::jit::Stack cpu = on_host(args);
  try {
    at::AutoDispatchBelowADInplaceOrView below;
    QuietPython quiet;
    const auto ours = is_random ? std::make_unique<OwnRandomness>() : nullptr;
    frame.op().callBoxed(cpu);
  } catch (const std::exception&) {
    return forget_written(frame.op(), args);
  }
  if (certainty_of(cpu) == Certainty::Assumed) certainty = Certainty::Assumed;  // a collective
  mark_written(frame.op(), args, certainty);
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    std::vector<at::Tensor> values;
    for_each_tensor(cpu[i], [&](const at::Tensor& tensor) { values.push_back(tensor); });
    std::size_t next = 0;
    for_each_tensor(frame.result(i), [&](const at::Tensor& phantom) {
      if (next < values.size()) take_values(phantom, values[next++], certainty);
    });
  }
}

void forget_written(const c10::OperatorHandle& op, const std::vector<c10::IValue>& args) {
  for_each_written(op, args, [](const at::Tensor& tensor) { forget(tensor); });
}

}  // namespace tidemark::phantom
