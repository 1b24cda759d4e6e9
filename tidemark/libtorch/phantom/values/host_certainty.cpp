// Remembers storages weakly: an address belongs to the storage we mean for as long as we know it.
#include "tidemark/libtorch/phantom/values/host_certainty.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace tidemark::phantom {
namespace {

using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

// Those of the run whose values were made up.
struct Assumed {
  std::mutex lock;
  std::unordered_map<const c10::StorageImpl*, WeakStorage> storages;
  std::atomic<bool> any{false};
  std::size_t limit = kSmallest;

  // Dead storages are swept out whenever there are twice as many entries as after the last sweep.
  void sweep() {
    if (storages.size() < limit) return;
    std::erase_if(storages, [](const auto& entry) { return entry.second.expired(); });
    limit = std::max(kSmallest, 2 * storages.size());
  }

  static constexpr std::size_t kSmallest = 64;
};
Assumed g_assumed;

}  // namespace

void mark_assumed_on_host(const at::Tensor& host) {
  std::lock_guard lock(g_assumed.lock);
  g_assumed.sweep();
  auto* storage = host.storage().unsafeGetStorageImpl();
  g_assumed.storages.insert_or_assign(storage, host.storage().getWeakStorageImpl());
  g_assumed.any = true;
}

bool is_assumed_on_host(const at::Tensor& host) {
  if (!g_assumed.any || !host.has_storage()) return false;
  std::lock_guard lock(g_assumed.lock);
  const auto found = g_assumed.storages.find(host.storage().unsafeGetStorageImpl());
  return found != g_assumed.storages.end() && !found->second.expired();
}

void forget_hosts() {
  std::lock_guard lock(g_assumed.lock);
  g_assumed.storages.clear();
  g_assumed.any = false;
}

}  // namespace tidemark::phantom
