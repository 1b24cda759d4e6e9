// Put before a program (LD_PRELOAD): writes each address that cudaMalloc and cudaFree are about.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace {

// Lines of "+ address bytes" and "- address", in the order of the calls.
void note(char what, const void* address, std::size_t bytes) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  static std::FILE* const file = std::fopen(std::getenv("SEGMENTS_LOG"), "a");
  if (!file) return;
  std::fprintf(file, "%c %p %zu\n", what, address, bytes);
  std::fflush(file);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int cudaMalloc(void** address, std::size_t bytes) {
  const int failure = next<int(void**, std::size_t)>("cudaMalloc")(address, bytes);
  if (!failure) note('+', *address, bytes);
  return failure;
}

extern "C" int cudaFree(void* address) {
  if (address) note('-', address, 0);
  return next<int(void*)>("cudaFree")(address);
}
