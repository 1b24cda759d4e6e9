// PyTorch's fake process group, but for the futures of its reductions, which it leaves empty.
#include "python/phantom/collectives.h"

#include <torch/csrc/distributed/c10d/FakeProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace tidemark::phantom {
namespace {

using c10d::Work;
using Tensors = std::vector<at::Tensor>;

class DoneWork final : public Work {
 public:
  explicit DoneWork(Tensors results)
      : results_(std::move(results)),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {
    future_->markCompleted(c10::IValue(results_));
  }

  bool isCompleted() override { return true; }
  bool isSuccess() const override { return true; }
  bool wait(std::chrono::milliseconds) override { return true; }
  Tensors result() override { return results_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  Tensors results_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

class QuietGroup final : public c10d::FakeProcessGroup {
 public:
  QuietGroup(int rank, int size) : FakeProcessGroup(rank, size, c10::make_intrusive<Options>()) {}

  c10::intrusive_ptr<Work> allreduce(Tensors& tensors, const c10d::AllreduceOptions&) override {
    return c10::make_intrusive<DoneWork>(tensors);
  }
  c10::intrusive_ptr<Work> allreduce_coalesced(Tensors& tensors,
                                               const c10d::AllreduceCoalescedOptions&) override {
    return c10::make_intrusive<DoneWork>(tensors);
  }
};

// DistributedDataParallel measures its phases; a CPU build has no clock for CUDA.
class PhaseTimer final : public c10d::Timer {
 public:
  explicit PhaseTimer(c10::Device) {}
  std::optional<std::int64_t> measureDifference(Event start, Event end) override {
    const auto from = getTimestamp(start), to = getTimestamp(end);
    return from && to ? std::optional(*to - *from) : std::nullopt;
  }
};

}  // namespace

void register_phase_timer() {
  c10d::TimerRegistry()->Register(
      c10::DeviceType::CUDA,
      [](c10::Device device) -> std::unique_ptr<c10d::Timer> {
        return std::make_unique<PhaseTimer>(device);
      },
      c10::REGISTRY_PREFERRED);
}

void answer_collectives(const std::string& group) {
  const auto found = c10d::resolve_process_group(group);
  const auto quiet = c10::make_intrusive<QuietGroup>(found->getRank(), found->getSize());
  // A type of backend that nothing else of this process uses: an old one would be kept.
  constexpr auto kType = c10d::ProcessGroup::BackendType::UCC;
  for (const auto device : {c10::DeviceType::CPU, c10::DeviceType::CUDA, c10::DeviceType::Meta})
    found->setBackend(device, kType, quiet);
}

}  // namespace tidemark::phantom
