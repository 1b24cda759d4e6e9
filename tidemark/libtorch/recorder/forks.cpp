// Handlers around a fork: take every lock in its order, let the child forget, give them back.
#include "tidemark/libtorch/recorder/forks.h"

#include <pthread.h>

#include <array>

#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {
namespace {

constinit std::array<std::mutex*, 7> g_locks{};

// A program that links a part of the recorder has a part of the locks.
void before_fork() {
  for (std::mutex* const lock : g_locks)
    if (lock) lock->lock();
}

void after_fork() {
  for (std::size_t i = g_locks.size(); i-- > 0;)
    if (g_locks[i]) g_locks[i]->unlock();
}

void after_fork_in_child() {
  ++g_forks;
  Recorder::instance().forget_in_child();
  after_fork();
}

[[maybe_unused]] const int g_watched =
    pthread_atfork(&before_fork, &after_fork, &after_fork_in_child);

}  // namespace

ForkSafeMutex::ForkSafeMutex(LockPlace place) { g_locks[static_cast<std::size_t>(place)] = this; }

}  // namespace tidemark::recorder
