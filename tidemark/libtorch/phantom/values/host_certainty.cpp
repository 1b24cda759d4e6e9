// Remembers storages weakly: an address belongs to the storage we mean for as long as we know it.
#include "tidemark/libtorch/phantom/values/host_certainty.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace tidemark::phantom {
namespace {

using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

std::mutex g_assumed_lock;
std::unordered_map<const c10::StorageImpl*, WeakStorage> g_assumed;
std::atomic<bool> g_any{false};

// Dead storages are swept out whenever there are twice as many entries as after the last sweep.
void sweep() {
  static std::size_t limit = 64;
  if (g_assumed.size() < limit) return;
  std::erase_if(g_assumed, [](const auto& entry) { return entry.second.expired(); });
  limit = std::max<std::size_t>(64, 2 * g_assumed.size());
}

}  // namespace

void mark_assumed_on_host(const at::Tensor& host) {
  std::lock_guard lock(g_assumed_lock);
  sweep();
  auto* storage = host.storage().unsafeGetStorageImpl();
  g_assumed.insert_or_assign(storage, host.storage().getWeakStorageImpl());
  g_any = true;
}

bool is_assumed_on_host(const at::Tensor& host) {
  if (!g_any || !host.has_storage()) return false;
  std::lock_guard lock(g_assumed_lock);
  const auto found = g_assumed.find(host.storage().unsafeGetStorageImpl());
  return found != g_assumed.end() && !found->second.expired();
}

void forget_hosts() {
  std::lock_guard lock(g_assumed_lock);
  g_assumed.clear();
  g_any = false;
}

}  // namespace tidemark::phantom
