// One state, kept between the calls that use it.
#include "tidemark/libtorch/phantom/values/own_randomness.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>

#include <mutex>

namespace tidemark::phantom {
namespace {

constexpr std::uint64_t kSeed = 2'026;

// Held while ours is in place: only one operator draws at a time.
std::recursive_mutex g_drawing_lock;
at::Tensor g_ours;

at::Tensor state_of(at::Generator generator) {
  std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_state(at::Generator generator, const at::Tensor& state) {
  std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace

OwnRandomness::OwnRandomness() {
  g_drawing_lock.lock();
  const at::Generator generator = at::detail::getDefaultCPUGenerator();
  theirs_ = state_of(generator);
  if (!g_ours.defined()) g_ours = state_of(at::make_generator<at::CPUGeneratorImpl>(kSeed));
  set_state(generator, g_ours);
}

OwnRandomness::~OwnRandomness() {
  const at::Generator generator = at::detail::getDefaultCPUGenerator();
  g_ours = state_of(generator);
  set_state(generator, theirs_);
  g_drawing_lock.unlock();
}

void reset_own_randomness() {
  std::lock_guard lock(g_drawing_lock);
  g_ours.reset();
}

}  // namespace tidemark::phantom
