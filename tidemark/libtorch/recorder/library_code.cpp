// Finds functions by their symbols, and looks for them among the callers.
#include "tidemark/libtorch/recorder/library_code.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <cstdlib>

#include "tidemark/libtorch/attribution/blas_workspaces.h"

namespace tidemark::recorder {
namespace {

// Each version of PyTorch has some of them.
constexpr std::array<const char*, 5> kNames = {
    "_ZN2at4cuda24getCurrentCUDABlasHandleEb", "_ZN2at4cuda24getCurrentCUDABlasHandleEv",
    "_ZN2at4cuda37getCurrentCUDABlasHandleWithWorkspaceEv", "_ZN2at4cuda22getCUDABlasLtWorkspaceEv",
    "_ZN2at4cuda22getCUDABlasLtWorkspaceEm"};

// From our callback up to the library there are nine or ten calls. How much stack they take nobody
// has measured; on an H200's machine, with torch 2.11, they were found within this much.
constexpr int kDeepest = 20;
constexpr std::size_t kReachBytes = 16384;

struct Search {
  const std::array<CodeRange, 5>& functions;
  int left = kDeepest;
  bool is_found = false;
};

_Unwind_Reason_Code look(_Unwind_Context* caller, void* data) {
  auto& search = *static_cast<Search*>(data);
  const auto at = static_cast<std::uintptr_t>(_Unwind_GetIP(caller));
  search.is_found = std::any_of(search.functions.begin(), search.functions.end(),
                                [at](const CodeRange& one) { return one.has_return(at); });
  return search.is_found || --search.left == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

CodeRange function_at(void* address) {
  Dl_info info;
  ElfW(Sym)* symbol = nullptr;
  if (!address || !dladdr1(address, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) ||
      !symbol)
    return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return {begin, begin + symbol->st_size};
}

// They stand side by side in the library, so there is little else between them.
CodeRange hull(const std::array<CodeRange, 5>& functions) {
  CodeRange all{UINTPTR_MAX, 0};
  for (const CodeRange& one : functions)
    if (one.begin < one.end) all = {std::min(all.begin, one.begin), std::max(all.end, one.end)};
  return all.begin < all.end ? all : CodeRange{};
}

const char* environment(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

}  // namespace

// Sizes of older GPUs and of newer ones: a process may have both.
void LibraryCode::learn() noexcept {
  void* const torch = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!torch) return;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    functions_[i] = function_at(dlsym(torch, kNames[i]));
  dlclose(torch);
  all_ = hull(functions_);
  const char* const blas = environment("CUBLAS_WORKSPACE_CONFIG");
  sizes_ = {attribution::blas_workspace_bytes(8, blas), attribution::blas_workspace_bytes(9, blas),
            attribution::blas_lt_workspace_bytes(environment("CUBLASLT_WORKSPACE_SIZE"))};
}

bool LibraryCode::asks_for(std::int64_t bytes) const noexcept {
  if (std::find(sizes_.begin(), sizes_.end(), bytes) == sizes_.end()) return false;
  if (!stack_may_return_into(all_, kReachBytes)) return false;
  Search search{functions_};
  _Unwind_Backtrace(&look, &search);
  return search.is_found;
}

}  // namespace tidemark::recorder
