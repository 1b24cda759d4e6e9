// Two trackers start, ask and stop while four threads train: under the thread sanitizer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "tests/threads/stand_in_engine.h"
#include "tests/threads/torch_stand_in.h"
#include "tidemark/libtorch/recorder/allocators.h"
#include "tidemark/libtorch/recorder/tracker.h"

namespace tidemark::recorder {
namespace {

using Trackers = std::array<std::shared_ptr<Tracker>, 2>;

at::Tensor make_tensor(std::size_t bytes, bool requires_grad) {
  c10::Allocator* const allocator = c10::GetAllocator(c10::kCPU);
  auto impl = std::make_shared<c10::TensorImpl>();
  impl->storage = std::make_shared<c10::StorageImpl>(allocator->allocate(bytes), bytes, allocator);
  impl->requires_grad = requires_grad;
  return at::Tensor(std::move(impl));
}

// As autograd calls a kernel: with itself switched off.
at::Tensor call_operator(std::size_t bytes) {
  ++at::sequence_number::t_next;
  c10::impl::t_keys.excluded_.bits |= 1U << static_cast<unsigned>(c10::DispatchKey::AutogradOther);
  make_tensor(2 * bytes, false);  // workspace
  at::Tensor made = make_tensor(bytes, true);
  c10::impl::t_keys.excluded_.bits = 0;
  return made;
}

// What a training thread does, and what the hooks of each tracker tell of it.
class Training {
 public:
  explicit Training(const Trackers& trackers) : trackers_(trackers) {
    for (std::size_t i = 0; i < trackers.size(); ++i) {
      modules_[i] = trackers[i]->add_module();
      trackers[i]->set_name(modules_[i], "net");
    }
  }

  void step() {
    at::Tensor input = make_tensor(512, true);
    tell([&](Tracker& tracker, ModuleNumber module) {
      tracker.label(weight_, Category::Parameter);
      tracker.follow_gradient(weight_, false);
      tracker.begin_forward(module, input);
    });
    tell([](Tracker& tracker, ModuleNumber) { tracker.set_purpose(Category::AllGather); });
    resize();
    tell([](Tracker& tracker, ModuleNumber) { tracker.set_purpose(std::nullopt); });
    at::Tensor output = call_operator(1024);
    tell(
        [&](Tracker& tracker, ModuleNumber module) { tracker.end_forward(module, output, false); });
    run_backward([&] { accumulate(); });
    tell([](Tracker& tracker, ModuleNumber) { tracker.begin_optimizer(); });
    const at::Tensor state = call_operator(256);
    tell([&](Tracker& tracker, ModuleNumber) {
      tracker.label(std::vector{state}, Category::OptimizerState);
      tracker.end_optimizer();
    });
    weight_.unsafeGetTensorImpl()->gradient = nullptr;
  }

 private:
  // As if its memory were kept; nobody stands at resizes while nobody tracks.
  void resize() {
    if (!Recorder::instance().is_recording()) return;
    const c10::StorageImpl& storage = *weight_.storage().unsafeGetStorageImpl();
    const auto object = static_cast<StorageKey>(reinterpret_cast<std::uintptr_t>(&storage));
    Recorder::instance().note_resizing(key_of(storage), object);
    Recorder::instance().note_resized(key_of(storage), 0);
    Recorder::instance().note_resizing(0, object);
    Recorder::instance().note_resized(key_of(storage), 256);
    Recorder::instance().note_forgotten(object);
  }

  void accumulate() {
    c10::TensorImpl& leaf = *weight_.unsafeGetTensorImpl();
    leaf.gradient = call_operator(256).getIntrusivePtr();
    if (leaf.accumulated) (*leaf.accumulated)(weight_);
  }

  template <class Tell>
  void tell(const Tell& tell_one) {
    for (std::size_t i = 0; i < trackers_.size(); ++i)
      if (trackers_[i]->is_running()) tell_one(*trackers_[i], modules_[i]);
  }

  const Trackers& trackers_;
  std::array<ModuleNumber, 2> modules_{};
  at::Tensor weight_ = make_tensor(256, true);
};

void come_and_go(Tracker& tracker, int times) {
  for (int i = 0; i < times; ++i) {
    tracker.start();
    tracker.current();
    tracker.peak();
    tracker.stats(0);
    tracker.is_active(0);
    tracker.steps_done();
    tracker.set_meta("turn", std::to_string(i));
    tracker.capture_out_of_memory(1 << 20, "cpu");
    std::this_thread::yield();
    tracker.stop();
    tracker.clear_modules();
    tracker.close_tape();
    tracker.events();
  }
}

TEST(RecorderThreads, TwoTrackersStartAndStopWhileFourThreadsTrain) {
  constexpr int kThreads = 4, kTimes = 200;
  const auto tape = std::filesystem::temp_directory_path() /
                    ("tidemark_threads." + std::to_string(getpid()) + ".tape");
  TrackerOptions rows, written;
  written.tape = tape.string();
  written.rules.count_at_birth = true;
  const Trackers trackers{std::make_shared<Tracker>(rows), std::make_shared<Tracker>(written)};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> workers, comers;
  for (int i = 0; i < kThreads; ++i)
    workers.emplace_back([&] {
      Training training(trackers);
      while (!is_over) training.step();
    });
  for (const auto& tracker : trackers) comers.emplace_back([&] { come_and_go(*tracker, kTimes); });
  for (std::thread& thread : comers) thread.join();
  is_over = true;
  for (std::thread& thread : workers) thread.join();
  // Everything that was made is gone, and every death was heard.
  for (const auto& tracker : trackers) {
    EXPECT_EQ(tracker->why_given_up(), "");
    EXPECT_EQ(tracker->storage_count(), 0u);
    tracker->finish();
  }
  EXPECT_EQ(Recorder::instance().dropped(), 0u);
  std::filesystem::remove(tape);
}

TEST(RecorderThreads, TrackersAreMadeAndLostWhileOthersTrain) {
  constexpr int kThreads = 4, kRounds = 40;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([] {
      for (int round = 0; round < kRounds; ++round) {
        const Trackers trackers{std::make_shared<Tracker>(TrackerOptions{}),
                                std::make_shared<Tracker>(TrackerOptions{})};
        for (const auto& tracker : trackers) tracker->start();
        Training training(trackers);
        for (int step = 0; step < 5; ++step) training.step();
        for (const auto& tracker : trackers) tracker->stop();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tidemark::recorder
