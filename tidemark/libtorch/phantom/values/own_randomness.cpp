// One state, kept between the calls that use it.
#include "tidemark/libtorch/phantom/values/own_randomness.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>

#include <mutex>

namespace tidemark::phantom {
namespace {

constexpr std::uint64_t kSeed = 2'026;

struct Ours {
  std::recursive_mutex lock;  // held while ours is in place: only one operator draws at a time
  at::Tensor state;
};
Ours g_ours;

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
  g_ours.lock.lock();
  const at::Generator generator = at::detail::getDefaultCPUGenerator();
  theirs_ = state_of(generator);
  if (!g_ours.state.defined())
    g_ours.state = state_of(at::make_generator<at::CPUGeneratorImpl>(kSeed));
  set_state(generator, g_ours.state);
}

OwnRandomness::~OwnRandomness() {
  const at::Generator generator = at::detail::getDefaultCPUGenerator();
  g_ours.state = state_of(generator);
  set_state(generator, theirs_);
  g_ours.lock.unlock();
}

void reset_own_randomness() {
  std::lock_guard lock(g_ours.lock);
  g_ours.state.reset();
}

}  // namespace tidemark::phantom
