// One state, kept between the calls that use it.
#include "tidemark/libtorch/phantom/values/own_randomness.h"

#include <mutex>

namespace tidemark::phantom {
namespace {

constexpr std::uint64_t kSeed = 2'026;

struct Ours {
  std::recursive_mutex lock;  // held while ours is in place: only one operator draws at a time
  std::optional<RandomState> state;
};
Ours g_ours;

// Returns the state that it puts this one in place of.
RandomState exchange_state(const RandomState& state) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  std::lock_guard lock(generator.mutex());
  auto* cpu = generator.get<at::CPUGeneratorImpl>();
  const RandomState before{cpu->engine(), cpu->next_float_normal_sample(),
                           cpu->next_double_normal_sample()};
  cpu->set_engine(state.engine);
  cpu->set_next_float_normal_sample(state.next_float_normal);
  cpu->set_next_double_normal_sample(state.next_double_normal);
  return before;
}

}  // namespace

OwnRandomness::OwnRandomness() {
  g_ours.lock.lock();
  if (!g_ours.state) g_ours.state = RandomState{at::mt19937(kSeed), {}, {}};
  theirs_ = exchange_state(*g_ours.state);
}

OwnRandomness::~OwnRandomness() {
  g_ours.state = exchange_state(theirs_);
  g_ours.lock.unlock();
}

void reset_own_randomness() {
  std::lock_guard lock(g_ours.lock);
  g_ours.state.reset();
}

}  // namespace tidemark::phantom
