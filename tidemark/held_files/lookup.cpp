// Asks the overlay only when something has changed, and only about paths that can be held.
#include "tidemark/held_files/lookup.h"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

#include "tidemark/held_files/scratch.h"

namespace tidemark::held_files {
namespace {

// /proc has links that are no paths; these and devices are never held.
bool is_of_system(std::string_view path) {
  return path.starts_with("/proc/") || path.starts_with("/dev/") || path.starts_with("/sys/");
}

}  // namespace

KeepErrno::KeepErrno() : before_(errno) {}
KeepErrno::~KeepErrno() { errno = before_; }

Lookup::Lookup(const char* path, Links links) : Lookup(AT_FDCWD, path, links) {}

Lookup::Lookup(int folder, const char* path, Links links) : folder_(folder), path_(path) {
  if (!is_holding() || !has_changes() || !path || !*path || is_of_system(path)) return;
  KeepErrno keep;
  const std::string whole = absolute(folder, path);
  if (whole.empty() || is_in_scratch(whole)) return;
  const bool is_slash_last = whole.ends_with('/');
  Place place = find(whole, is_slash_last ? Links::Follow : links);
  if (!place.is_changed && !place.is_by_held_link) return;
  at_ = std::move(place.at);
  folder_ = AT_FDCWD;
  path_ = at_.c_str();
}

std::string path_to_change(int folder, const char* path) {
  if (!is_holding() || !path || !*path || is_of_system(path)) return "";
  KeepErrno keep;
  return absolute(folder, path);
}

}  // namespace tidemark::held_files
