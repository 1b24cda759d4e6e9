// Handles of threads and their workspaces.
#include "tidemark/libtorch/phantom/cuda/matmul_workspaces.h"

#include <c10/core/Storage.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "tidemark/libtorch/phantom/cuda/workspaces.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

struct HandleOnStream {
  std::uint32_t era = 0;
  c10::DeviceIndex device = 0;
  std::uint32_t handle = 0;
  c10::StreamId stream = 0;
  MatmulLibrary library = MatmulLibrary::None;
  auto operator<=>(const HandleOnStream&) const = default;
};

struct Handles {
  std::mutex lock;
  std::vector<std::uint32_t> free;
  std::uint32_t made = 0;
};
struct KeptWorkspaces {
  std::mutex lock;
  // Grows when all are dropped: what a thread has seen before counts no more.
  std::atomic<std::uint32_t> era{1};
  std::map<HandleOnStream, c10::Storage> storages;
  std::atomic<std::uint32_t> last_session{0};  // that asked for one
};

// Never destroyed: threads may end after everything else.
Handles& handles() {
  static auto* const all = new Handles;
  return *all;
}
KeptWorkspaces& kept_workspaces() {
  static auto* const all = new KeptWorkspaces;
  return *all;
}

class ThreadHandle {
 public:
  ThreadHandle() {
    Handles& all = handles();
    std::lock_guard lock(all.lock);
    if (all.free.empty()) {
      number_ = all.made++;
    } else {
      number_ = all.free.back();
      all.free.pop_back();
    }
  }
  ~ThreadHandle() {
    Handles& all = handles();
    std::lock_guard lock(all.lock);
    all.free.push_back(number_);
  }
  ThreadHandle(const ThreadHandle&) = delete;
  ThreadHandle& operator=(const ThreadHandle&) = delete;

  std::uint32_t number() const { return number_; }

 private:
  std::uint32_t number_;
};

std::uint32_t handle_of_thread() {
  thread_local const ThreadHandle handle;
  return handle.number();
}

std::string_view environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

std::int64_t bytes_of(MatmulLibrary library) {
  if (library == MatmulLibrary::BlasLt)
    return blas_lt_workspace_bytes(environment("CUBLASLT_WORKSPACE_SIZE"));
  return blas_workspace_bytes(virtual_gpus().model().major, environment("CUBLAS_WORKSPACE_CONFIG"));
}

void keep_one(HandleOnStream place, MatmulLibrary library) {
  place.library = library;
  KeptWorkspaces& all = kept_workspaces();
  {
    std::lock_guard lock(all.lock);
    if (!all.storages.try_emplace(place).second) return;
  }
  // Born outside of the lock: whoever hears of it may take others.
  c10::Storage storage = hold_workspace(place.device, bytes_of(library));
  std::lock_guard lock(all.lock);
  all.storages[place] = std::move(storage);
}

}  // namespace

void keep_matmul_workspace(c10::DeviceIndex device, MatmulLibrary library) {
  if (library == MatmulLibrary::None) return;
  const HandleOnStream here{kept_workspaces().era.load(std::memory_order_relaxed), device,
                            handle_of_thread(), current_stream(device), library};
  thread_local std::array<HandleOnStream, 3> last;  // by library
  if (here == std::exchange(last[static_cast<std::size_t>(library)], here)) return;
  kept_workspaces().last_session = session_number();
  if (!session_options().cuda_choices) return;
  keep_one(here, MatmulLibrary::Blas);
  if (library == MatmulLibrary::BlasLt) keep_one(here, MatmulLibrary::BlasLt);
}

bool has_used_matmul() { return kept_workspaces().last_session == session_number(); }

void drop_matmul_workspaces() {
  std::map<HandleOnStream, c10::Storage> dropped;
  KeptWorkspaces& all = kept_workspaces();
  std::lock_guard lock(all.lock);
  ++all.era;
  dropped.swap(all.storages);
}

}  // namespace tidemark::phantom
