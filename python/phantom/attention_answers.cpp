// Tensors come as the numbers Python knows them by: PyTorch's own bindings are not loaded yet when
// this module is.
#include "python/phantom/attention_answers.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tidemark/libtorch/phantom/cuda/attention.h"

namespace py = pybind11;

namespace tidemark::phantom {
namespace {

at::Tensor tensor_at(std::uintptr_t cdata) {
  return at::Tensor(
      c10::intrusive_ptr<c10::TensorImpl>::reclaim_copy(reinterpret_cast<c10::TensorImpl*>(cdata)));
}

at::SDPBackend kernel_named(std::string_view name) {
  if (name == "flash") return at::SDPBackend::flash_attention;
  if (name == "efficient") return at::SDPBackend::efficient_attention;
  if (name == "cudnn") return at::SDPBackend::cudnn_attention;
  throw py::value_error("no attention kernel is called " + std::string(name));
}

std::string obstacle(const std::string& kernel, std::uintptr_t query, std::uintptr_t key,
                     std::uintptr_t value, std::optional<std::uintptr_t> mask, double dropout,
                     bool is_causal, bool enable_gqa) {
  const auto masked = mask ? std::optional(tensor_at(*mask)) : std::nullopt;
  return std::string(attention_obstacle(kernel_named(kernel), tensor_at(query), tensor_at(key),
                                        tensor_at(value), masked, dropout, is_causal, enable_gqa));
}

}  // namespace

void bind_attention_answers(py::module_& module) { module.def("attention_obstacle", &obstacle); }

}  // namespace tidemark::phantom
