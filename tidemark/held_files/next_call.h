// The function that stands behind ours of the same name: libc's, or another library's before it.
#pragma once

#include <dirent.h>
#include <dlfcn.h>

namespace tidemark::held_files {

template <class Function>
Function* next_call(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

inline DIR* next_opendir(const char* path) {
  static const auto call = next_call<DIR*(const char*)>("opendir");
  return call(path);
}
inline dirent* next_readdir(DIR* folder) {
  static const auto call = next_call<dirent*(DIR*)>("readdir");
  return call(folder);
}
inline int next_closedir(DIR* folder) {
  static const auto call = next_call<int(DIR*)>("closedir");
  return call(folder);
}

}  // namespace tidemark::held_files
