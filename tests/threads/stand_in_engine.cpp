// Allocators, operators and autograd's engine, as small as the recorder lets them be.
#include "tests/threads/stand_in_engine.h"

#include <array>

#include "tests/threads/torch_stand_in.h"
#include "tidemark/libtorch/recorder/gradients.h"
#include "tidemark/libtorch/recorder/marked_kernels.h"
#include "tidemark/libtorch/recorder/operators.h"
#include "tidemark/libtorch/recorder/pinned_births.h"

namespace c10 {
namespace {

struct CpuAllocator final : Allocator {
  DataPtr allocate(std::size_t bytes) override {
    void* const data = std::malloc(bytes);
    return {data, data, &std::free, {DeviceType::CPU}};
  }
  DeleterFnPtr raw_deleter() const override { return &std::free; }
  void copy_data(void*, const void*, std::size_t) const override {}
};

struct MetaAllocator final : Allocator {
  DataPtr allocate(std::size_t) override {
    return {nullptr, nullptr, [](void*) {}, {DeviceType::Meta}};
  }
  void copy_data(void*, const void*, std::size_t) const override {}
};

CpuAllocator g_cpu;
MetaAllocator g_meta;
constinit std::array<std::atomic<Allocator*>, 3> g_allocators{&g_cpu, nullptr, &g_meta};

}  // namespace

Allocator* GetAllocator(DeviceType type) {
  return g_allocators[static_cast<std::size_t>(type)].load(std::memory_order_relaxed);
}

void SetAllocator(DeviceType type, Allocator* allocator, std::uint8_t) {
  g_allocators[static_cast<std::size_t>(type)].store(allocator, std::memory_order_relaxed);
}

}  // namespace c10

namespace tidemark::recorder {
namespace {

thread_local std::vector<GradientAction> t_actions;
struct End {
  std::function<void()> done, abandoned;
};
thread_local std::vector<End> t_ends;
std::atomic<bool> g_are_watched{false};

}  // namespace

Graph await_gradients(at::TensorList tensors, Await, GradientAction action, Graph) {
  bool is_wanted = false;
  for (const at::Tensor& tensor : tensors) is_wanted |= tensor.requires_grad();
  if (is_wanted) t_actions.push_back(std::move(action));
  return nullptr;
}

void forget_awaited_leaves(const std::weak_ptr<void>&) {}
int current_backward() { return torch::autograd::t_graph_task; }

void at_end_of_backward(std::function<void()> done, std::function<void()> abandoned) {
  t_ends.push_back({std::move(done), std::move(abandoned)});
}

void run_backward(const std::function<void()>& accumulate) {
  static std::atomic<int> next{0};
  const int number = next.fetch_add(1, std::memory_order_relaxed);
  torch::autograd::t_graph_task = number;
  at::t_grad_mode = false;
  for (auto action = t_actions.rbegin(); action != t_actions.rend(); ++action) (*action)({});
  t_actions.clear();
  accumulate();
  for (const End& end : t_ends) (number % 8 == 0 ? end.abandoned : end.done)();
  t_ends.clear();
  at::t_grad_mode = true;
  torch::autograd::t_graph_task = -1;
}

void watch_operators(bool) { g_are_watched = true; }
void unwatch_operators() { g_are_watched = false; }
bool are_operators_watched() { return g_are_watched; }
bool fake_mode_is_on() { return false; }
void mark_operators() {}

// Nothing is pinned there.
bool watch_pinned(c10::DataPtr&) { return false; }

}  // namespace tidemark::recorder
