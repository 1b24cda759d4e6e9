// Reads convolutions and products from their calls, and takes what the rules say.
#include "tidemark/libtorch/phantom/cuda/workspaces.h"

#include <ATen/Context.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tidemark/libtorch/phantom/cuda/convolution_workspace.h"
#include "tidemark/libtorch/phantom/cuda/cuda_results.h"
#include "tidemark/libtorch/phantom/cuda/operator_scratch.h"
#include "tidemark/libtorch/phantom/cuda/product_copies.h"
#include "tidemark/libtorch/phantom/kernel/catalogue.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

// Nothing where the GPU has no tensor cores for these numbers: only those are known.
std::optional<ConvolutionNumber> tensor_core_number(const at::Tensor& tensor) {
  const int major = virtual_gpus().model().major;
  switch (tensor.scalar_type()) {
    case at::kFloat: return major >= 8 ? std::optional(ConvolutionNumber::Float) : std::nullopt;
    case at::kBFloat16:
      return major >= 8 ? std::optional(ConvolutionNumber::BFloat16) : std::nullopt;
    case at::kHalf: return major >= 7 ? std::optional(ConvolutionNumber::Half) : std::nullopt;
    default: return std::nullopt;
  }
}

std::int64_t value_of_side(const std::vector<std::int64_t>& list, std::size_t i) {
  return list.empty() ? 0 : list[std::min(i, list.size() - 1)];
}

// Input, weight, and the position of "stride" among a call's arguments.
struct ConvolutionArguments {
  const at::Tensor& input;
  const at::Tensor& weight;
  std::vector<std::int64_t> stride, padding, dilation;
  bool transposed;
  std::vector<std::int64_t> output_padding;
  std::int64_t groups;
};

ConvolutionArguments read_arguments(const CallFrame& frame, std::size_t input, std::size_t stride) {
  return {frame.arg(input).toTensor(),         frame.arg(input + 1).toTensor(),
          frame.arg(stride).toIntVector(),     frame.arg(stride + 1).toIntVector(),
          frame.arg(stride + 2).toIntVector(), frame.arg(stride + 3).toBool(),
          frame.arg(stride + 4).toIntVector(), frame.arg(stride + 5).toInt()};
}

// How long a side of the result is.
std::int64_t result_side(const ConvolutionArguments& a, std::size_t i) {
  const std::int64_t side = a.input.size(static_cast<std::int64_t>(i) + 2);
  const std::int64_t reach =
      value_of_side(a.dilation, i) * (a.weight.size(static_cast<std::int64_t>(i) + 2) - 1);
  const std::int64_t stride = std::max<std::int64_t>(value_of_side(a.stride, i), 1);
  if (a.transposed)
    return (side - 1) * stride - 2 * value_of_side(a.padding, i) + reach +
           value_of_side(a.output_padding, i) + 1;
  return (side + 2 * value_of_side(a.padding, i) - reach - 1) / stride + 1;
}

std::optional<Convolution> read_convolution(const ConvolutionArguments& a) {
  if (!session_options().cuda_choices || !at::globalContext().userEnabledCuDNN()) return {};
  const std::optional<ConvolutionNumber> number = tensor_core_number(a.input);
  if (!number || a.input.dim() < 3 || a.weight.dim() != a.input.dim()) return {};
  Convolution c;
  c.batch = a.input.size(0);
  c.groups = a.groups;
  c.inputs = a.transposed ? a.weight.size(1) * a.groups : a.input.size(1);
  c.outputs = a.weight.size(0);
  c.sides = a.input.dim() - 2;
  c.least_kernel = c.least_input_side = c.least_output_side = INT64_MAX;
  for (std::int64_t i = 0; i < c.sides; ++i) {
    std::int64_t given = a.input.size(i + 2), made = result_side(a, static_cast<std::size_t>(i));
    if (a.transposed) std::swap(given, made);
    const std::int64_t kernel = a.weight.size(i + 2);
    c.input_positions *= given;
    c.output_positions *= made;
    c.taps *= kernel;
    c.kernel = std::max(c.kernel, kernel);
    c.least_kernel = std::min(c.least_kernel, kernel);
    c.least_input_side = std::min(c.least_input_side, given);
    c.least_output_side = std::min(c.least_output_side, made);
  }
  c.stride = *std::max_element(a.stride.begin(), a.stride.end());
  c.dilation = *std::max_element(a.dilation.begin(), a.dilation.end());
  c.padding = *std::max_element(a.padding.begin(), a.padding.end());
  c.number = *number;
  c.channels_last = convolution_format(a.input, a.weight) != at::MemoryFormat::Contiguous;
  c.multiprocessors = virtual_gpus().model().multiprocessors;
  return c;
}

// PyTorch hands a convolution tensors of one order, and copies those that lie otherwise.
std::int64_t bytes_to_lay_out(const at::Tensor& tensor, at::MemoryFormat order) {
  return tensor.is_contiguous(order)
             ? 0
             : tensor.numel() * static_cast<std::int64_t>(tensor.itemsize());
}

// The weight's copy is there for as long as the library computes with it.
void add_with_weight(Pieces& pieces, const ConvolutionArguments& a, std::int64_t workspace) {
  const auto copy = pieces.take(bytes_to_lay_out(a.weight, convolution_format(a.input, a.weight)));
  pieces.add_brief(workspace);
  pieces.give_back(copy);
}

Workspaces of_convolution(const CallFrame& frame) {
  const ConvolutionArguments arguments = read_arguments(frame, 0, 3);
  const std::optional<Convolution> c = read_convolution(arguments);
  if (!c) return {};
  const ConvolutionPart part =
      arguments.transposed ? ConvolutionPart::InputGradient : ConvolutionPart::Forward;
  Workspaces workspaces{.can_do_without = true};
  Pieces& pieces = workspaces.pieces;
  const auto copy = pieces.take(
      bytes_to_lay_out(arguments.input, convolution_format(arguments.input, arguments.weight)));
  pieces.add_result(0);
  add_with_weight(pieces, arguments, convolution_workspace(part, *c));
  pieces.give_back(copy);
  return workspaces;
}

// First the input's gradient, then the weight's, then the bias's, which is a sum. The input is read
// for the weight's gradient alone, and the weight for the input's.
Workspaces of_convolution_backward(const CallFrame& frame) {
  const ConvolutionArguments arguments = read_arguments(frame, 1, 4);
  const std::optional<Convolution> c = read_convolution(arguments);
  if (!c) return {};
  const auto wanted = frame.arg(10).toBoolList();
  const ConvolutionPart part =
      arguments.transposed ? ConvolutionPart::Forward : ConvolutionPart::InputGradient;
  Workspaces workspaces{.can_do_without = true};
  Pieces& pieces = workspaces.pieces;
  const at::Tensor& gradient = frame.arg(0).toTensor();
  const at::MemoryFormat order = convolution_format(arguments.input, arguments.weight);
  const auto input = pieces.take(wanted.get(1) ? bytes_to_lay_out(arguments.input, order) : 0);
  const auto copy = pieces.take(bytes_to_lay_out(gradient, order));
  pieces.add_result(0);
  if (wanted.get(0)) add_with_weight(pieces, arguments, convolution_workspace(part, *c));
  pieces.add_result(1);
  if (wanted.get(1)) pieces.add_brief(convolution_workspace(ConvolutionPart::WeightGradient, *c));
  pieces.give_back(copy);
  pieces.give_back(input);
  pieces.add_result(2);
  if (wanted.get(2)) pieces.add_nested(scratch_of_bias_gradient(gradient).amounts(), 0, 0);
  return workspaces;
}

Workspaces of_product(MatmulLibrary library) { return {.matmul = library}; }

Workspaces of_blas(const CallFrame&) { return of_product(MatmulLibrary::Blas); }
Workspaces of_blas_lt(const CallFrame&) { return of_product(MatmulLibrary::BlasLt); }

Workspaces with_copies(Workspaces product, const Pieces& copies) {
  if (session_options().cuda_choices) product.pieces = copies;
  return product;
}

// Which argument the first matrix is; the second one comes next.
template <std::size_t kFirst>
Workspaces of_matrices(const CallFrame& frame) {
  return with_copies(of_blas(frame), copies_in_product(frame.arg(kFirst).toTensor(),
                                                       frame.arg(kFirst + 1).toTensor()));
}

template <std::size_t kFirst>
Workspaces of_batches(const CallFrame& frame) {
  return with_copies(of_blas(frame), copies_in_batched_product(frame.arg(kFirst).toTensor(),
                                                               frame.arg(kFirst + 1).toTensor()));
}

// A bias is added by cuBLASLt within the product, a matrix is not.
Workspaces of_addmm(const CallFrame& frame) {
  const at::Tensor& bias = frame.arg(0).toTensor();
  const at::Tensor& right = frame.arg(2).toTensor();
  const bool adds_bias =
      bias.dim() == 1 && bias.is_contiguous() && right.size(0) > 1 && right.size(1) > 1;
  return with_copies(adds_bias ? of_blas_lt(frame) : of_blas(frame),
                     copies_in_product(frame.arg(1).toTensor(), right));
}

using WorkspaceEntry = CatalogueEntry<WorkspaceRule>;

constexpr std::array kWorkspaceRules = {
    WorkspaceEntry{"aten::convolution", &of_convolution},
    WorkspaceEntry{"aten::convolution_backward", &of_convolution_backward},
    // What a first call of each was seen to keep on an H200.
    WorkspaceEntry{"aten::mm", &of_matrices<0>},
    WorkspaceEntry{"aten::bmm", &of_batches<0>},
    WorkspaceEntry{"aten::baddbmm", &of_batches<1>},
    WorkspaceEntry{"aten::addbmm", &of_blas},
    WorkspaceEntry{"aten::mv", &of_blas},
    WorkspaceEntry{"aten::addmv", &of_blas},
    WorkspaceEntry{"aten::dot", &of_blas},
    WorkspaceEntry{"aten::vdot", &of_blas},
    WorkspaceEntry{"aten::_int_mm", &of_blas},
    WorkspaceEntry{"aten::linalg_inv_ex", &of_blas},
    WorkspaceEntry{"aten::_linalg_solve_ex", &of_blas},
    WorkspaceEntry{"aten::linalg_lu_solve", &of_blas},
    WorkspaceEntry{"aten::linalg_solve_triangular", &of_blas},
    WorkspaceEntry{"aten::triangular_solve", &of_blas},
    WorkspaceEntry{"aten::addmm", &of_addmm},
    WorkspaceEntry{"aten::_addmm_activation", &of_addmm},
    WorkspaceEntry{"aten::_scaled_mm", &of_blas_lt},
};

}  // namespace

c10::Storage hold_workspace(c10::DeviceIndex device, std::int64_t bytes) {
  return bytes > 0 ? new_storage(device, bytes, attribution::kOfLibrary) : c10::Storage();
}

// PyTorch asks cuDNN for another way where a convolution's workspace does not fit.
c10::Storage Workspaces::take(c10::DeviceIndex device, std::int64_t bytes) const {
  StorageLog* const log = can_do_without ? storage_log() : nullptr;
  if (log && log->would_refuse(device, bytes)) return {};
  return hold_workspace(device, bytes);
}

WorkspaceRule find_workspaces(std::string_view name) {
  name = name.substr(0, name.find('.'));
  if (name.ends_with('_')) name.remove_suffix(1);
  const WorkspaceRule rule = find_in(kWorkspaceRules, name);
  return rule ? rule : find_scratch(name);
}

}  // namespace tidemark::phantom
