// Scalars, counts and masks: what is known, else what the policy says.
#include "tidemark/libtorch/phantom/values/value_questions.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <mutex>
#include <unordered_map>
#include <utility>

#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/log/where.h"
#include "tidemark/libtorch/phantom/values/host_certainty.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

// After so many questions from one line in one step the answer flips: the program waits for
// another one. Numbers decide loops less often, and are asked for more often.
constexpr std::int64_t kPatience = 200, kPatienceForNumbers = 5'000;

struct Asked {
  std::int64_t step = 0, count = 0;
};
// Those of the run, by line.
struct Questions {
  std::mutex lock;
  std::unordered_map<StackId, Asked> asked;
};
Questions g_questions;

std::int64_t count_question() {
  const std::int64_t step = storage_log()->steps_begun();
  std::lock_guard lock(g_questions.lock);
  Asked& asked = g_questions.asked[current_place().stack];
  if (asked.step != step) asked = {step, 0};
  return ++asked.count;
}

std::string here() { return describe_source(current_place().stack); }

constexpr const char* kMadeUp = "returned a made-up value; what the script prints is fictitious";
[[gnu::tls_model("initial-exec")]] constinit thread_local const char* t_asked_as = nullptr;

// What a program writes to call it: its author has never heard of _local_scalar_dense.
std::string user_word(const std::string& op) {
  if (op == "aten::_local_scalar_dense") return "`.item()`";
  if (op == "aten::_unique2" || op.starts_with("aten::unique")) return "`unique()`";
  const std::string_view own = "aten::";
  return op.starts_with(own) ? "`" + op.substr(own.size()) + "()`" : "`" + op + "`";
}

void check_policy(const std::string& asks, const std::string& where) {
  TORCH_CHECK(session_options().on_value != OnValue::Error,
              asks + " asks for a value that a virtual GPU cannot know, at " + where +
                  " (tidemark --on-value error)");
}

// Notes that an answer is not known; throws under the policy that wants none.
void note_assumption(const CallFrame& frame, const char* code, const std::string& sentence) {
  const std::string name = frame.op().schema().name();
  check_policy(name, here());
  if (t_asked_as)
    storage_log()->diagnose("assumed-value", Severity::Note, here(),
                            "`" + std::string(t_asked_as) + "` " + kMadeUp);
  else storage_log()->diagnose(code, Severity::Note, here(), user_word(name) + " " + sentence);
}

c10::IValue unknown_scalar(const CallFrame& frame, at::ScalarType dtype) {
  const bool zero = session_options().on_value == OnValue::Zero;
  note_assumption(frame, "assumed-value", kMadeUp);
  const std::int64_t patience = dtype == at::kBool ? kPatience : kPatienceForNumbers;
  const bool flip = count_question() % (2 * patience) >= patience;
  if (flip)
    storage_log()->diagnose("ended-loop", Severity::Warning, here(),
                            "a loop that waits for a value was ended by turning the answer");
  if (dtype == at::kBool) return flip;
  if (at::isIntegralType(dtype, false)) return std::int64_t{zero || flip ? 0 : 1};
  if (at::isComplexType(dtype)) return c10::complex<double>(zero || flip ? 0 : 1);
  return zero || flip ? 0.0 : 1.0;
}

// A dense phantom that has these values.
at::Tensor with_values(const at::Tensor& values, c10::DeviceIndex device, Certainty certainty) {
  if (!values.defined()) return values;
  const auto bytes = values.numel() * static_cast<std::int64_t>(values.itemsize());
  const at::Tensor dense = values.is_non_overlapping_and_dense() ? values : values.contiguous();
  at::Tensor phantom =
      make_phantom(new_storage(device, bytes), values.dtype(), {dense.sizes(), dense.strides(), 0});
  set_known(phantom, dense, certainty);
  return phantom;
}

// Runs the operator on known values; its results become phantoms with values.
bool answer_from_values(CallFrame& frame) {
  if (!frame.all_known()) return false;
  const std::vector<c10::IValue> args = frame.copy_of_args();
  const Certainty certainty = certainty_of(args);
  if (certainty == Certainty::Assumed)
    note_assumption(frame, "assumed-shape", "has a shape that follows from made-up values");
  torch::jit::Stack host = on_host(args);
  {
    at::AutoDispatchBelowADInplaceOrView below;
    QuietPython quiet;
    frame.op().callBoxed(host);
  }
  const auto device = frame.device().index();
  frame.drop_args();
  for (const c10::IValue& result : host)
    frame.push(with_tensors(
        result, [&](const at::Tensor& values) { return with_values(values, device, certainty); }));
  return true;
}

at::Tensor new_tensor(const CallFrame& frame, at::IntArrayRef sizes, caffe2::TypeMeta dtype,
                      at::IntArrayRef transposed = {}) {
  const auto contiguous = c10::contiguous_strides(sizes);
  const at::IntArrayRef strides = transposed.empty() ? at::IntArrayRef(contiguous) : transposed;
  const auto bytes = c10::multiply_integers(sizes) * static_cast<std::int64_t>(dtype.itemsize());
  return make_phantom(new_storage(frame.device().index(), bytes), dtype, {sizes, strides, 0});
}

std::int64_t assumed_count(const CallFrame& frame, std::int64_t most) {
  note_assumption(frame, "assumed-mask", "met a mask that nobody knows; it was taken as all true");
  return session_options().on_value == OnValue::Zero ? 0 : most;
}

bool finish(CallFrame& frame, at::Tensor result) {
  if (frame.has_out()) {
    const at::Tensor out = frame.arg(frame.count() - 1).toTensor();
    result = out.resize_(result.sizes()).copy_(result);
  }
  frame.drop_args();
  frame.push(std::move(result));
  return true;
}

}  // namespace

const char* set_asked_as(const char* word) { return std::exchange(t_asked_as, word); }

void note_if_asked(const CallFrame& frame) {
  if (t_asked_as) note_assumption(frame, "assumed-value", kMadeUp);
}

void note_asked_of(const c10::StorageImpl& host) {
  if (!t_asked_as || !session_is_open() || !is_made_up_on_host(host)) return;
  const std::string where = describe_source(find_source(*storage_log()));
  check_policy(t_asked_as, where);
  storage_log()->diagnose("assumed-value", Severity::Note, where,
                          "`" + std::string(t_asked_as) + "` " + kMadeUp);
}

void reset_questions() {
  std::lock_guard lock(g_questions.lock);
  g_questions.asked.clear();
}

bool answer_scalar(CallFrame& frame) {
  const at::Tensor tensor = frame.arg(0).toTensor();
  c10::IValue answer;
  if (has_known_values(tensor)) {
    at::AutoDispatchBelowADInplaceOrView below;
    QuietPython quiet;
    answer = known_values(tensor).item();
  } else {
    answer = unknown_scalar(frame, tensor.scalar_type());
  }
  frame.drop_args();
  frame.push(std::move(answer));
  return true;
}

bool answer_equal(CallFrame& frame) {
  const at::Tensor a = frame.arg(0).toTensor(), b = frame.arg(1).toTensor();
  bool equal = a.is_same(b) || a.sizes() == b.sizes();
  if (frame.all_known()) {
    at::AutoDispatchBelowADInplaceOrView below;
    QuietPython quiet;
    equal = at::equal(is_phantom(a) ? known_values(a) : a, is_phantom(b) ? known_values(b) : b);
  } else if (!a.is_same(b)) {
    note_assumption(frame, "assumed-value", "took tensors of one shape as equal");
  }
  frame.drop_args();
  frame.push(equal);
  return true;
}

bool answer_no(CallFrame& frame) {
  frame.drop_args();
  frame.push(false);
  return true;
}

bool answer_aligned(CallFrame& frame) {
  storage_log()->diagnose(
      "padding-kept", Severity::Note, here(),
      "a TransformerEncoder's padding counts; a GPU leaves it out where it ends "
      "the rows (enable_nested_tensor)");
  return answer_no(frame);
}

// CUDA writes the coordinates dimension by dimension: the result is a transposed one.
bool answer_nonzero(CallFrame& frame) {
  if (frame.has_out()) return finish(frame, at::nonzero(frame.arg(0).toTensor()));
  if (answer_from_values(frame)) return true;
  const at::Tensor self = frame.arg(0).toTensor();
  const std::int64_t count = assumed_count(frame, self.numel());
  return finish(frame,
                new_tensor(frame, {count, self.dim()}, caffe2::TypeMeta::Make<std::int64_t>(),
                           {1, std::max<std::int64_t>(count, 1)}));
}

bool answer_masked_select(CallFrame& frame) {
  if (frame.has_out())
    return finish(frame, at::masked_select(frame.arg(0).toTensor(), frame.arg(1).toTensor()));
  if (answer_from_values(frame)) return true;
  const at::Tensor self = frame.arg(0).toTensor(), mask = frame.arg(1).toTensor();
  std::int64_t count = 0;
  if (has_known_values(mask)) {
    if (certainty_of({mask}) == Certainty::Assumed)
      note_assumption(frame, "assumed-shape", "has a shape that follows from made-up values");
    at::AutoDispatchBelowADInplaceOrView below;
    QuietPython quiet;
    const at::Tensor values = is_phantom(mask) ? known_values(mask) : mask;
    count = values.expand(at::infer_size(self.sizes(), mask.sizes())).sum().item<std::int64_t>();
  } else {
    count =
        assumed_count(frame, c10::multiply_integers(at::infer_size(self.sizes(), mask.sizes())));
  }
  return finish(frame, new_tensor(frame, {count}, self.dtype()));
}

bool answer_unique(CallFrame& frame) {
  if (answer_from_values(frame)) return true;
  note_assumption(frame, "assumed-values",
                  "met values that nobody knows; they were taken as all different");
  const at::Tensor self = frame.arg(0).toTensor();
  const auto whole = caffe2::TypeMeta::Make<std::int64_t>();
  const std::optional<std::int64_t> dim = told_dim(frame.op(), frame.args());
  const std::int64_t searched = dim ? self.size(*dim) : self.numel();
  const bool all_alike = session_options().on_value == OnValue::Zero;
  const std::int64_t count = all_alike ? std::min<std::int64_t>(searched, 1) : searched;
  std::vector<std::int64_t> sizes = dim ? self.sizes().vec() : std::vector{count};
  if (dim) sizes[static_cast<std::size_t>(*dim < 0 ? *dim + self.dim() : *dim)] = count;
  at::Tensor unique = new_tensor(frame, sizes, self.dtype());
  at::Tensor inverse =
      dim ? new_tensor(frame, {searched}, whole) : new_tensor(frame, self.sizes(), whole);
  at::Tensor counts = new_tensor(frame, {count}, whole);
  frame.drop_args();
  for (at::Tensor* result : {&unique, &inverse, &counts}) frame.push(std::move(*result));
  return true;
}

bool answer_repeats(CallFrame& frame) {
  if (frame.count() != 2) return false;  // the other overloads are made of this one
  if (answer_from_values(frame)) return true;
  const at::Tensor repeats = frame.arg(0).toTensor();
  std::int64_t count = repeats.numel();
  if (frame.arg(1).isInt()) count = frame.arg(1).toInt();
  else
    note_assumption(frame, "assumed-values",
                    "met counts that nobody knows; they were taken as one each");
  return finish(frame, new_tensor(frame, {count}, repeats.dtype()));
}

bool answer_bincount(CallFrame& frame) {
  if (frame.count() != 3) return false;
  if (answer_from_values(frame)) return true;
  note_assumption(frame, "assumed-values",
                  "met values that nobody knows; they were taken as small");
  const bool weighted = frame.arg(1).isTensor() && frame.arg(1).toTensor().defined();
  const auto dtype =
      weighted ? caffe2::TypeMeta::Make<double>() : caffe2::TypeMeta::Make<std::int64_t>();
  return finish(frame, new_tensor(frame, {std::max<std::int64_t>(frame.arg(2).toInt(), 1)}, dtype));
}

// CUDA counts whole numbers, the CPU only floating-point ones.
bool answer_histogram(CallFrame& frame) {
  const at::Tensor self = frame.arg(0).toTensor();
  if (frame.count() != 4 || !has_known_values(self)) return false;
  at::Tensor counts;
  {
    at::AutoDispatchBelowADInplaceOrView below;
    QuietPython quiet;
    counts = at::histc(known_values(self).to(at::kDouble), frame.arg(1).toInt(),
                       frame.arg(2).toScalar(), frame.arg(3).toScalar())
                 .to(self.scalar_type());
  }
  const Certainty certainty = certainty_of({self});
  return finish(frame, with_values(counts, frame.device().index(), certainty));
}

bool answer_kept_boxes(CallFrame& frame) {
  if (answer_from_values(frame)) return true;
  const bool none = session_options().on_value == OnValue::Zero;
  note_assumption(
      frame, "assumed-shape",
      none ? "met boxes that nobody knows; none was taken as kept"
           : "met boxes that nobody knows; all were taken as kept, the most there can be");
  at::Tensor kept;
  {
    at::AutoDispatchBelowADInplaceOrView below;
    QuietPython quiet;
    kept = at::arange(none ? 0 : frame.arg(0).toTensor().size(0), at::kLong);
  }
  return finish(frame, with_values(kept, frame.device().index(), Certainty::Assumed));
}

}  // namespace tidemark::phantom
