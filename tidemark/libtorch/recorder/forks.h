// Locks that nobody holds after a fork: the child has the memory of all threads, and one thread.
#pragma once

#include <mutex>

namespace tidemark::recorder {

// How many forks lie between this process and the one that loaded the library.
inline constinit int g_forks = 0;

// Who holds one of these may wait for those below it, never the other way round.
enum class LockPlace { Starts, Notes, Operators, Kernels, Leaves, Devices, Origins };

// A fork waits until it is free, and parent and child find it so. Made while the library is loaded,
// one for each place.
class ForkSafeMutex : public std::mutex {
 public:
  explicit ForkSafeMutex(LockPlace place);
};

}  // namespace tidemark::recorder
