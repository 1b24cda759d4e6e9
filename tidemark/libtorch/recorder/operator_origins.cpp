// Joins Python's line in the forward with autograd's node in the backward; results as text.
#include "tidemark/libtorch/recorder/operator_origins.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/graph_task.h>

#include <memory>
#include <string>

#include "tidemark/libtorch/attribution/forwards.h"
#include "tidemark/libtorch/recorder/allocators.h"
#include "tidemark/libtorch/recorder/recorder.h"
#include "tidemark/libtorch/shape_text.h"

namespace tidemark::recorder {
namespace {

// The line of each recent operator that autograd has made a node for.
constinit attribution::Forwards g_forwards;

StackId line_of_forward() {
  const auto node = torch::autograd::get_current_node();
  if (!node || node->sequence_nr() == UINT64_MAX) return {};
  const std::uint64_t found = g_forwards.find(node->sequence_nr(), node->thread_id());
  return found == 0 ? StackId() : StackId(static_cast<StackId::rep>(found - 1));
}

// In a backward that records, a checkpoint's forward comes again, with lines of its own.
StackId line_of_operator() {
  const bool in_backward = torch::autograd::get_current_graph_task_id() != -1;
  const bool recomputes = in_backward && at::GradMode::is_enabled();
  StackId line;
  if (in_backward && !recomputes) line = line_of_forward();
  if (!line) line = line_here();
  if (!line && recomputes) line = line_of_forward();
  return line;
}

// Text is made once for each operator, type and shape; a program repeats them every step.
struct Result {
  CallId call;
  at::ScalarType dtype{};
  c10::SmallVector<std::int64_t, 5> sizes;
  CallId as;

  bool is(CallId wanted, const at::Tensor& tensor) const {
    return as && call == wanted && dtype == tensor.scalar_type() &&
           tensor.sizes() == at::IntArrayRef(sizes);
  }
};
constexpr std::size_t kResults = 1024;
thread_local std::unique_ptr<Result[]> t_results;

std::size_t place_of(CallId call, const at::Tensor& tensor) {
  std::uint64_t hash = call.value;
  for (const std::int64_t size : tensor.sizes())
    hash = (hash ^ static_cast<std::uint64_t>(size)) * 0x9e3779b97f4a7c15;
  return (hash >> 32 ^ hash) % kResults;
}

CallId call_returning(CallId call, const at::Tensor& tensor) {
  if (!t_results) t_results = std::make_unique<Result[]>(kResults);
  Result& known = t_results[place_of(call, tensor)];
  if (known.is(call, tensor)) return known.as;
  std::string text = " -> ";
  write_shape(text, tensor);
  known.call = call;
  known.dtype = tensor.scalar_type();
  known.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  return known.as = Origins::instance().with_result(call, text);
}

void note_shape(const at::Tensor& tensor, const Origin& origin) {
  if (!tensor.defined() || !tensor.has_storage() || tensor.is_nested()) return;
  const StorageKey key = key_of(*tensor.storage().unsafeGetStorageImpl());
  if (key != 0) Recorder::instance().note_shape(key, call_returning(origin.call, tensor));
}

}  // namespace

Origin origin_of(const at::RecordFunction& function, CallId call) {
  const StackId line = line_of_operator();
  // Its node will have this number, if it gets one.
  if (line && function.seqNr() >= 0)
    g_forwards.remember(static_cast<std::uint64_t>(function.seqNr()),
                        at::RecordFunction::currentThreadId(), std::uint64_t{line.value} + 1);
  return {line, call};
}

void note_shapes(const std::vector<c10::IValue>& results, const Origin& origin) {
  for (const c10::IValue& value : results) {
    if (value.isTensor()) note_shape(value.toTensor(), origin);
    else if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) note_shape(tensor, origin);
  }
}

}  // namespace tidemark::recorder
