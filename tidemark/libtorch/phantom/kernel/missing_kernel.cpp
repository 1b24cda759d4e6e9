// A slow way that nearly always works: such operators are few, and so are their calls.
#include "tidemark/libtorch/phantom/kernel/missing_kernel.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <utility>

#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

// From the Python kernel that says so to the call around it, on the same thread.
thread_local bool t_fake_missing = false;

constexpr std::int64_t kMostBytes = std::int64_t{512} << 20;

std::string name_of_call(const CallFrame& frame) {
  return c10::toString(frame.op().operator_name());
}

// Enough to know why; PyTorch goes on to list every backend.
std::string first_sentence(const std::string& message) {
  const std::size_t end = message.find(". ");
  return message.substr(0, std::min(end, message.find('\n')));
}

[[noreturn]] void give_up(const CallFrame& frame, const std::string& why) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, name_of_call(frame) + " cannot run on a virtual GPU, at " +
                                         describe_source(current_place().stack) + ": " + why);
}

[[noreturn]] void give_up_shapes(const CallFrame& frame, const std::string& why) {
  give_up(frame,
          "it has no meta kernel, and " + why + " (torch.library.register_fake gives it one)");
}

[[noreturn]] void refuse(const CallFrame& frame) {
  give_up(frame, "there are no quantized tensors, and of sparse ones those in coordinates (COO)");
}

class HostCall {
 public:
  explicit HostCall(CallFrame& frame) : frame_(frame) {}

  void run() {
    check_size();
    torch::jit::Stack stack;
    for (std::size_t i = 0; i < frame_.count(); ++i) stack.push_back(to_host(frame_.arg(i)));
    call(stack);
    for (auto& [host, phantom] : hosts_)
      if (host.sizes() != phantom.sizes()) phantom.resize_(host.sizes());
    frame_.drop_args();
    for (const c10::IValue& result : stack)
      frame_.push(with_tensors(result, [&](const at::Tensor& t) { return back(t); }));
    storage_log()->diagnose("shape-from-cpu", Severity::Note,
                            describe_source(current_place().stack),
                            name_of_call(frame_) + ": no meta kernel; shapes taken from the CPU's");
  }

 private:
  void check_size() const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < frame_.count(); ++i)
      for_each_tensor(frame_.arg(i), [&](const at::Tensor& t) {
        if (t.defined()) bytes += static_cast<std::int64_t>(t.nbytes());
      });
    if (bytes > kMostBytes) give_up_shapes(frame_, "its arguments are too large to ask the CPU");
  }

  void call(torch::jit::Stack& stack) const {
    try {
      at::AutoDispatchBelowADInplaceOrView below;
      QuietPython quiet;
      frame_.op().callBoxed(stack);
    } catch (const c10::Error& error) {
      give_up_shapes(frame_, "the CPU says: " + first_sentence(error.msg()));
    }
  }

  c10::IValue to_host(const c10::IValue& value) {
    if (value.isDevice()) return c10::Device(c10::DeviceType::CPU);
    if (value.isGenerator()) return {};
    return with_tensors(value, [&](const at::Tensor& t) { return host_of(t); });
  }

  at::Tensor host_of(const at::Tensor& tensor) {
    if (!is_phantom(tensor)) return tensor;
    for (auto& [host, phantom] : hosts_)
      if (phantom.is_same(tensor)) return host;
    at::AutoDispatchBelowADInplaceOrView below;
    at::Tensor host = has_known_values(tensor)
                          ? known_values(tensor).clone()
                          : at::zeros(tensor.sizes(), tensor.options().device(at::kCPU));
    hosts_.emplace_back(host, tensor);
    return host;
  }

  at::Tensor back(const at::Tensor& result) const {
    if (!result.defined()) return result;
    for (auto& [host, phantom] : hosts_)
      if (host.is_same(result)) return phantom;
    check_is_plain(result, frame_);
    const auto bytes = static_cast<std::int64_t>(result.storage().nbytes());
    return make_phantom(new_storage(frame_.device().index(), bytes), result.dtype(),
                        {result.sizes(), result.strides(), result.storage_offset()});
  }

  CallFrame& frame_;
  std::vector<std::pair<at::Tensor, at::Tensor>> hosts_;  // host, phantom
};

}  // namespace

void check_is_plain(const at::Tensor& result, const CallFrame& frame) {
  if (result.layout() != at::kStrided || result.is_quantized()) refuse(frame);
}

bool refuse_layout(CallFrame& frame) { refuse(frame); }

bool refuse_nested(CallFrame& frame) {
  give_up(frame,
          "there are no nested tensors of the strided layout (layout=torch.jagged works; of a "
          "TransformerEncoder enable_nested_tensor=False)");
}

void tell_fake_missing() { t_fake_missing = true; }

bool take_fake_missing() { return std::exchange(t_fake_missing, false); }

void ask_cpu_for_shapes(CallFrame& frame) { HostCall(frame).run(); }

}  // namespace tidemark::phantom
