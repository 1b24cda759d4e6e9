// PyTorch's fake process group, but for the futures of its reductions, which it leaves empty.
#include "python/phantom/collectives.h"

#include <torch/csrc/distributed/c10d/FakeProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "python/phantom/collective_names.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

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

using TensorLists = std::vector<Tensors>;

// What comes from other ranks is not known. Of this rank's own values a guess is made: the other
// ranks are taken to have the same.
class QuietGroup final : public c10d::FakeProcessGroup {
 public:
  QuietGroup(int rank, int size) : FakeProcessGroup(rank, size, c10::make_intrusive<Options>()) {}

  c10::intrusive_ptr<Work> allreduce(Tensors& tensors,
                                     const c10d::AllreduceOptions& options) override {
    guess_reduced(tensors, options.reduceOp);
    return c10::make_intrusive<DoneWork>(tensors);
  }
  c10::intrusive_ptr<Work> allreduce_coalesced(
      Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override {
    guess_reduced(tensors, options.reduceOp);
    return c10::make_intrusive<DoneWork>(tensors);
  }
  c10::intrusive_ptr<Work> reduce(Tensors& tensors, const c10d::ReduceOptions& options) override {
    if (options.rootRank == rank_) guess_reduced(tensors, options.reduceOp);
    return FakeProcessGroup::reduce(tensors, options);
  }
  c10::intrusive_ptr<Work> broadcast(Tensors& tensors,
                                     const c10d::BroadcastOptions& options) override {
    if (options.rootRank != rank_) guess(tensors);
    return FakeProcessGroup::broadcast(tensors, options);
  }
  c10::intrusive_ptr<Work> allgather(TensorLists& outputs, Tensors& inputs,
                                     const c10d::AllgatherOptions& options) override {
    auto work = FakeProcessGroup::allgather(outputs, inputs, options);
    guess_of_others(outputs);
    return work;
  }
  c10::intrusive_ptr<Work> TIDEMARK_ALL_GATHER_SINGLE(
      at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override {
    if (!has_known_values(input)) return gather_unknown({output});
    auto work = FakeProcessGroup::TIDEMARK_ALL_GATHER_SINGLE(output, input, options);
    guess({output});
    return work;
  }
  c10::intrusive_ptr<Work> allgather_coalesced(TensorLists& outputs, Tensors& inputs,
                                               const c10d::AllgatherOptions& options) override {
    auto work = FakeProcessGroup::allgather_coalesced(outputs, inputs, options);
    for (const Tensors& tensors : outputs) guess(tensors);
    return work;
  }
  c10::intrusive_ptr<Work> TIDEMARK_ALL_GATHER_SINGLE_COALESCED(
      Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override {
    if (std::none_of(inputs.begin(), inputs.end(), has_known_values))
      return gather_unknown(outputs);
    auto work = FakeProcessGroup::TIDEMARK_ALL_GATHER_SINGLE_COALESCED(outputs, inputs, options);
    guess(outputs);
    return work;
  }
  c10::intrusive_ptr<Work> gather(TensorLists& outputs, Tensors& inputs,
                                  const c10d::GatherOptions& options) override {
    auto work = FakeProcessGroup::gather(outputs, inputs, options);
    guess_of_others(outputs);
    return work;
  }
  c10::intrusive_ptr<Work> scatter(Tensors& outputs, TensorLists& inputs,
                                   const c10d::ScatterOptions& options) override {
    auto work = FakeProcessGroup::scatter(outputs, inputs, options);
    if (options.rootRank != rank_) guess(outputs);
    return work;
  }
  c10::intrusive_ptr<Work> reduce_scatter(Tensors& outputs, TensorLists& inputs,
                                          const c10d::ReduceScatterOptions& options) override {
    auto work = FakeProcessGroup::reduce_scatter(outputs, inputs, options);
    guess_reduced(outputs, options.reduceOp);
    return work;
  }
  c10::intrusive_ptr<Work> TIDEMARK_REDUCE_SCATTER_SINGLE(
      at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) override {
    auto work = FakeProcessGroup::TIDEMARK_REDUCE_SCATTER_SINGLE(output, input, options);
    guess_reduced({output}, options.reduceOp);
    return work;
  }
  c10::intrusive_ptr<Work> TIDEMARK_REDUCE_SCATTER_SINGLE_COALESCED(
      Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) override {
    auto work =
        FakeProcessGroup::TIDEMARK_REDUCE_SCATTER_SINGLE_COALESCED(outputs, inputs, options);
    guess_reduced(outputs, options.reduceOp);
    return work;
  }
  c10::intrusive_ptr<Work> TIDEMARK_ALL_TO_ALL_SINGLE(
      at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_sizes,
      std::vector<std::int64_t>& input_sizes, const c10d::AllToAllOptions& options) override {
    auto work = FakeProcessGroup::TIDEMARK_ALL_TO_ALL_SINGLE(output, input, output_sizes,
                                                             input_sizes, options);
    guess({output});
    return work;
  }
  c10::intrusive_ptr<Work> alltoall(Tensors& outputs, Tensors& inputs,
                                    const c10d::AllToAllOptions& options) override {
    auto work = FakeProcessGroup::alltoall(outputs, inputs, options);
    guess(outputs);
    return work;
  }
  c10::intrusive_ptr<Work> recv(Tensors& tensors, int from, int tag) override {
    guess(tensors);
    return FakeProcessGroup::recv(tensors, from, tag);
  }
  c10::intrusive_ptr<Work> recvAnysource(Tensors& tensors, int tag) override {
    guess(tensors);
    return FakeProcessGroup::recvAnysource(tensors, tag);
  }

 private:
  // The fake group copies the input to each rank's part, of which there may be thousands.
  static c10::intrusive_ptr<Work> gather_unknown(const Tensors& outputs) {
    for (const at::Tensor& output : outputs) forget(output);
    return c10::make_intrusive<DoneWork>(outputs);
  }
  void guess(const Tensors& tensors) const {
    if (size_ == 1) return;
    for (const at::Tensor& tensor : tensors) make_assumed(tensor);
  }
  void guess_of_others(const TensorLists& outputs) const {
    for (const Tensors& tensors : outputs)
      for (std::size_t rank = 0; rank < tensors.size(); ++rank)
        if (static_cast<int>(rank) != rank_) guess({tensors[rank]});
  }
  void guess_reduced(const Tensors& tensors, const c10d::ReduceOp& operation) const {
    if (size_ == 1) return;
    if (operation == c10d::ReduceOp::SUM)
      for (const at::Tensor& tensor : tensors) multiply_known(tensor, size_);
    guess(tensors);
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
