// Adds ready queues to the engine, as it does itself when it starts.
#include "tidemark/libtorch/phantom/device/autograd_threads.h"

#include <torch/csrc/autograd/engine.h>

#include <memory>
#include <thread>

namespace tidemark::phantom {
namespace {

using torch::autograd::Engine;
using torch::autograd::ReadyQueue;

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

}  // namespace tidemark::phantom
