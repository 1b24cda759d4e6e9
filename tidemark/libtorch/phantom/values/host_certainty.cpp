// Remembers storages weakly: an address belongs to the storage we mean for as long as we know it.
#include "tidemark/libtorch/phantom/values/host_certainty.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace tidemark::phantom {
namespace {

using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

struct Host {
  WeakStorage storage;
  bool is_made_up;
};

// Those of the run whose values came from a GPU that has none.
struct Assumed {
  std::mutex lock;
  std::unordered_map<const c10::StorageImpl*, Host> storages;
  std::atomic<bool> any{false};
  std::size_t limit = kSmallest;

  // Dead storages are swept out whenever there are twice as many entries as after the last sweep.
  void sweep() {
    if (storages.size() < limit) return;
    std::erase_if(storages, [](const auto& entry) { return entry.second.storage.expired(); });
    limit = std::max(kSmallest, 2 * storages.size());
  }

  static constexpr std::size_t kSmallest = 64;
};
Assumed g_assumed;

void mark(const at::Tensor& host, bool is_made_up) {
  std::lock_guard lock(g_assumed.lock);
  g_assumed.sweep();
  auto* storage = host.storage().unsafeGetStorageImpl();
  g_assumed.storages.insert_or_assign(storage,
                                      Host{host.storage().getWeakStorageImpl(), is_made_up});
  g_assumed.any = true;
}

// Under the lock: what is known of a storage that is still the one we mean.
const Host* find_host(const c10::StorageImpl* storage) {
  const auto found = g_assumed.storages.find(storage);
  return found == g_assumed.storages.end() || found->second.storage.expired() ? nullptr
                                                                              : &found->second;
}

}  // namespace

void mark_assumed_on_host(const at::Tensor& host) { mark(host, /*is_made_up=*/false); }
void mark_made_up_on_host(const at::Tensor& host) { mark(host, /*is_made_up=*/true); }

bool has_assumed_hosts() { return g_assumed.any; }

bool is_assumed_on_host(const at::Tensor& host) {
  if (!g_assumed.any || !host.has_storage()) return false;
  std::lock_guard lock(g_assumed.lock);
  return find_host(host.storage().unsafeGetStorageImpl()) != nullptr;
}

bool is_made_up_on_host(const c10::StorageImpl& host) {
  if (!g_assumed.any) return false;
  std::lock_guard lock(g_assumed.lock);
  const Host* const known = find_host(&host);
  return known && known->is_made_up;
}

void forget_hosts() {
  std::lock_guard lock(g_assumed.lock);
  g_assumed.storages.clear();
  g_assumed.any = false;
}

}  // namespace tidemark::phantom
