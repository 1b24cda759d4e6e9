// One storage for each GPU, from the first training net with dropout to the session's end.
#include "tidemark/libtorch/phantom/cuda/dropout_states.h"

#include <c10/core/Storage.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "tidemark/libtorch/phantom/cuda/workspaces.h"

namespace tidemark::phantom {
namespace {

// An H200 with 132 multiprocessors was seen to keep 132 times as much: 24 bytes a thread.
constexpr std::int64_t kBytesOfMultiprocessor = 2048 * 24;

struct KeptStates {
  std::mutex lock;
  std::map<c10::DeviceIndex, c10::Storage> storages;
};

// Never destroyed: threads may end after everything else.
KeptStates& kept_states() {
  static auto* const all = new KeptStates;
  return *all;
}

}  // namespace

void keep_dropout_states(c10::DeviceIndex device) {
  KeptStates& all = kept_states();
  {
    std::lock_guard lock(all.lock);
    if (!all.storages.try_emplace(device).second) return;
  }
  // Born outside of the lock: whoever hears of it may take others.
  c10::Storage storage =
      hold_workspace(device, virtual_gpus().model().multiprocessors * kBytesOfMultiprocessor);
  std::lock_guard lock(all.lock);
  all.storages[device] = std::move(storage);
}

void drop_dropout_states() {
  std::map<c10::DeviceIndex, c10::Storage> dropped;
  std::lock_guard lock(kept_states().lock);
  dropped.swap(kept_states().storages);
}

}  // namespace tidemark::phantom
