// Names the two devices, and the line.
#include "tidemark/libtorch/phantom/kernel/same_device.h"

#include <algorithm>
#include <array>

#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

constexpr std::array<std::string_view, 5> kMixing = {"aten::copy_", "aten::_to_copy", "aten::set_",
                                                     "aten::record_stream", "aten::_copy_from"};

constexpr std::array<std::string_view, 24> kStrict = {"aten::add",
                                                      "aten::sub",
                                                      "aten::mul",
                                                      "aten::div",
                                                      "aten::add_",
                                                      "aten::sub_",
                                                      "aten::mul_",
                                                      "aten::div_",
                                                      "aten::mm",
                                                      "aten::addmm",
                                                      "aten::bmm",
                                                      "aten::baddbmm",
                                                      "aten::matmul",
                                                      "aten::cat",
                                                      "aten::embedding",
                                                      "aten::convolution",
                                                      "aten::native_layer_norm",
                                                      "aten::native_batch_norm",
                                                      "aten::nll_loss_forward",
                                                      "aten::mse_loss",
                                                      "aten::eq",
                                                      "aten::lt",
                                                      "aten::gt",
                                                      "aten::maximum"};

template <class Names>
bool is_in(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool may_mix_devices(std::string_view name) {
  return is_in(kMixing, name) || name.starts_with("aten::_foreach_") ||
         name.starts_with("aten::_amp_foreach_") || !name.starts_with("aten::");
}

void check_devices(const CallFrame& frame) {
  const bool strict = is_in(kStrict, frame.op().schema().name());
  for (std::size_t i = 0; i < frame.count(); ++i)
    for_each_tensor(frame.arg(i), [&](const at::Tensor& tensor) {
      if (!tensor.defined() || tensor.device() == frame.device()) return;
      const bool is_host = tensor.device().is_cpu() && strict && tensor.dim() > 0;
      TORCH_CHECK(
          !is_host && !is_phantom(tensor),
          "Expected all tensors to be on the same device, but found at least two devices, " +
              frame.device().str() + " and " + tensor.device().str() + "! (in " +
              frame.op().schema().name() + " at " + describe_source(current_place().stack) + ")");
    });
}

}  // namespace tidemark::phantom
