// Values that are known although the tensor has no memory: ids, masks, labels, lengths.
//
// A phantom storage may have a real CPU buffer of the same size beside it. An operator whose
// inputs are all known also runs on the CPU; views share the buffer as they share the storage.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

enum class Certainty : std::uint8_t {
  Known,    // what the GPU would have
  Assumed,  // a plausible stand-in; what is computed from it is assumed too
};

struct KnownBytes {
  at::Tensor bytes;  // one-dimensional, CPU, as many bytes as the phantom storage
  Certainty certainty = Certainty::Known;
};

// Whole numbers up to 64 MiB, and buffers of other numbers of at most 16 KiB.
bool worth_knowing(at::ScalarType dtype, std::int64_t storage_bytes);

// True for a CPU tensor, and for a phantom whose storage has known (or assumed) bytes, or that has
// no elements.
bool has_known_values(const at::Tensor& tensor);
// Null where nothing is known.
inline KnownBytes* known_bytes(const at::Tensor& phantom) {
  if (!phantom.has_storage()) return nullptr;
  const StorageRecord* record = record_of(phantom);
  return record ? record->known.get() : nullptr;
}
// has_known_values() of a phantom: every argument of every operator is asked.
inline bool has_known_values_of_phantom(const at::Tensor& phantom) {
  return phantom.numel() == 0 || known_bytes(phantom);
}
// A CPU tensor over the known bytes with the phantom's own layout; only where has_known_values.
at::Tensor known_values(const at::Tensor& phantom);

// Sets the values of a whole phantom storage.
void set_known(const at::Tensor& phantom, const at::Tensor& values, Certainty certainty);
void forget(const at::Tensor& phantom);
// Multiplies what is known of a tensor, on GPU or CPU, by a whole number.
void multiply_known(const at::Tensor& tensor, std::int64_t factor);
// What is in this tensor, on GPU or CPU, is a guess from now on.
void make_assumed(const at::Tensor& tensor);

// A CPU tensor of the same shape over a single element: for operators that read no more.
at::Tensor shape_on_host(const at::Tensor& tensor);

// What the CPU's backward of log_sigmoid() reads beside the input; CUDA's forward leaves it empty.
at::Tensor log_sigmoid_buffer_on_host(const at::Tensor& input);

// The arguments with known values in place of phantoms, for a call on the CPU.
torch::jit::Stack on_host(const std::vector<c10::IValue>& args);
// Assumed as soon as one of the arguments is.
Certainty certainty_of(const std::vector<c10::IValue>& args);

// Runs the operator on the CPU over known arguments and gives its results to the frame's.
// `args` are the arguments as they were; what is random is assumed. Where the CPU cannot, results
// stay unknown.
void compute_known(CallFrame& frame, const std::vector<c10::IValue>& args, bool is_random);
// The operator wrote data we do not know: its outputs and written arguments become unknown.
void forget_written(const c10::OperatorHandle& op, const std::vector<c10::IValue>& args);

}  // namespace tidemark::phantom
