// Runs recorded operators on memory that is there.
#include "tidemark/libtorch/phantom/values/hollow_program.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include "tidemark/libtorch/phantom/values/host_mapping.h"

namespace tidemark::phantom {
namespace {

void run_step(const Step& step, void* block) {
  torch::jit::Stack stack{step.target.over(block)};
  for (const c10::IValue& other : step.others) stack.push_back(other);
  if (step.random) stack.back() = generator_from(*step.random);
  std::unique_ptr<HostMapping> source;
  if (step.source) {
    source = std::make_unique<HostMapping>(step.source->bytes);
    replay(step.source->program, source->data());
    stack[1] = step.source->layout.over(source->data());
  }
  step.op.callBoxed(stack);
}

}  // namespace

Layout Layout::of(const at::Tensor& tensor) {
  return {tensor.scalar_type(),
          {tensor.sizes().begin(), tensor.sizes().end()},
          {tensor.strides().begin(), tensor.strides().end()},
          tensor.storage_offset()};
}

at::Tensor Layout::over(void* block) const {
  char* first =
      static_cast<char*>(block) + offset * static_cast<std::int64_t>(c10::elementSize(dtype));
  return at::from_blob(first, sizes, strides, at::TensorOptions().dtype(dtype).device(at::kCPU));
}

std::size_t length_of(const Program& program) { return program ? program->length : 0; }

void replay(const Program& program, void* block) {
  std::vector<const Step*> steps;
  for (const Step* step = program.get(); step; step = step->before.get()) steps.push_back(step);
  at::AutoDispatchBelowADInplaceOrView below;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) run_step(**step, block);
}

}  // namespace tidemark::phantom
