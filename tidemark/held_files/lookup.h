// Where a call of libc should look for a path: as it was given, unless the scratch folder knows
// better.
#pragma once

#include <string>

#include "tidemark/held_files/overlay.h"

namespace tidemark::held_files {

// Leaves errno as it was, for the time of a scope.
class KeepErrno {
 public:
  KeepErrno();
  ~KeepErrno();
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int before_;
};

class Lookup {
 public:
  Lookup(int folder, const char* path, Links links);
  explicit Lookup(const char* path, Links links = Links::Follow);
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  int folder() const { return folder_; }
  const char* path() const { return path_; }

 private:
  int folder_;
  const char* path_;
  std::string at_;
};

// The absolute path of what is to be changed; empty, where libc does it: nothing is held in this
// process, or the path is none.
std::string path_to_change(int folder, const char* path);

}  // namespace tidemark::held_files
