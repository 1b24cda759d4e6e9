// Adds ready queues to the engine, as it does itself when it starts, and puts tasks into them.
#include "tidemark/libtorch/phantom/device/autograd_threads.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>

#include "tidemark/libtorch/phantom/log/module_calls.h"

namespace tidemark::phantom {
namespace {

using torch::autograd::Edge;
using torch::autograd::Engine;
using torch::autograd::Node;
using torch::autograd::ReadyQueue;
using torch::autograd::variable_list;

// Reaches the members that only an Engine may see.
class OpenEngine : public Engine {
 public:
  static bool has_started(Engine& engine) {
    return engine.*(&OpenEngine::thread_pool_shared_) != nullptr;
  }
  static std::vector<std::shared_ptr<ReadyQueue>>& queues(Engine& engine) {
    return engine.*(&OpenEngine::device_ready_queues_);
  }
};

// A backward of nothing. It takes no number from the program's own nodes.
struct NoNode : Node {
  NoNode() : Node(UINT64_MAX) {}
  variable_list apply(variable_list&&) override { return {}; }
};

// Versions of PyTorch hold nodes by pointers of different kinds.
template <class Pointer>
Pointer make_no_node() {
  if constexpr (std::is_same_v<Pointer, std::shared_ptr<Node>>) return std::make_shared<NoNode>();
  else return c10::make_intrusive<NoNode>();
}

// No storage, so that it is no event of the run when it dies on the other thread.
at::Tensor nothing_on(int device) {
  return at::Tensor(c10::make_intrusive<c10::TensorImpl, c10::UndefinedTensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::CUDA), caffe2::TypeMeta::Make<float>(),
      c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(device))));
}

}  // namespace

void give_autograd_threads(int gpus) {
  Engine& engine = Engine::get_default_engine();
  if (!OpenEngine::has_started(engine)) return;
  auto& queues = OpenEngine::queues(engine);
  for (int device = static_cast<int>(queues.size()); device < gpus; ++device) {
    auto queue = std::make_shared<ReadyQueue>();
    queues.push_back(queue);
    std::thread([&engine, device, queue] { engine.thread_init(device, queue, true); }).detach();
  }
}

// A thread takes its next task when it has let go of the last one. Where the engine takes no task
// of ours, as under compiled autograd, the program goes on without.
void wait_for_autograd_threads(int gpus) noexcept try {
  if (is_in_backward()) return;
  Engine& engine = Engine::get_default_engine();
  if (!OpenEngine::has_started(engine)) return;
  for (int device = 0; device < gpus; ++device) {
    const at::Tensor nothing = nothing_on(device);
    auto node = make_no_node<decltype(Edge::function)>();
    node->add_input_metadata(nothing);
    engine.execute({Edge(node, 0)}, {nothing}, false, false, true);
  }
} catch (...) {
}

}  // namespace tidemark::phantom
