// Results lie in rows, however the image does. A grid with gaps and what is expanded are copied
// first, for the length of the call.
#include "tidemark/libtorch/phantom/cuda/grid_sampler.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "tidemark/libtorch/phantom/cuda/workspaces.h"

namespace tidemark::phantom {
namespace {

c10::Storage hold_copy(const at::Tensor& of) {
  return hold_workspace(of.device().index(), static_cast<std::int64_t>(of.nbytes()));
}

c10::Storage hold_rows(const at::Tensor& grid) {
  return grid.is_contiguous() ? c10::Storage() : hold_copy(grid);
}

c10::Storage hold_expanded(const at::Tensor& t) {
  const bool repeats = std::find(t.strides().begin(), t.strides().end(), 0) != t.strides().end();
  return repeats && !t.is_contiguous() ? hold_copy(t) : c10::Storage();
}

}  // namespace

bool answer_sampled_image(CallFrame& frame) {
  if (frame.has_out()) return false;
  const at::Tensor image = frame.arg(0).toTensor(), grid = frame.arg(1).toTensor();
  const c10::Storage image_copy = hold_expanded(image);
  const c10::Storage grid_copy = hold_rows(grid);
  return frame.answer(
      {new_phantom(image, {image.size(0), image.size(1), grid.size(1), grid.size(2)})});
}

bool answer_sampled_image_backward(CallFrame& frame) {
  if (frame.has_out()) return false;
  const at::Tensor image = frame.arg(0).toTensor(), grid = frame.arg(1).toTensor();
  const at::Tensor gradient = frame.arg(2).toTensor();
  const c10::Storage image_copy = hold_expanded(image);
  const c10::Storage grid_copy = hold_rows(grid);
  const c10::Storage gradient_copy = hold_expanded(gradient);
  const at::Tensor of_image = new_phantom(image, image.sizes());
  return frame.answer({of_image, new_phantom(grid, grid.sizes())});
}

}  // namespace tidemark::phantom
