// Stands before libc's calls that list folders.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "tidemark/held_files/interpose.h"
#include "tidemark/held_files/lookup.h"
#include "tidemark/held_files/overlay.h"
#include "tidemark/held_files/scratch.h"

using namespace tidemark::held_files;

namespace {

struct Listing {
  std::vector<dirent> entries;
  std::size_t next = 0;
};

std::mutex g_lock;

// Listings of ours, by what libc opened for them; never destroyed: programs list until they end.
std::map<DIR*, Listing>& listings() {
  static auto& all = *new std::map<DIR*, Listing>;
  return all;
}

// A fork copies one thread, and this lock.
[[maybe_unused]] const int g_fork_rule =
    pthread_atfork([] { g_lock.lock(); }, [] { g_lock.unlock(); }, [] { g_lock.unlock(); });

dirent entry_of(const std::string& name, unsigned char kind) {
  dirent entry = {};
  entry.d_ino = 1;  // 0 would be an entry that was removed
  entry.d_reclen = sizeof entry;
  entry.d_type = kind;
  std::strncpy(entry.d_name, name.c_str(), sizeof entry.d_name - 1);
  return entry;
}

void keep_listing(DIR* opened, const Place& place) {
  Listing listing;
  for (const char* self : {".", ".."}) listing.entries.push_back(entry_of(self, DT_DIR));
  for (const Entry& entry : list(place))
    listing.entries.push_back(entry_of(entry.name, entry.kind));
  std::lock_guard lock(g_lock);
  listings().insert_or_assign(opened, std::move(listing));
}

// Whether libc's listing of a folder is not ours; the folder then.
bool find_own(int folder, const char* path, Place& place) {
  if (!is_holding() || !has_changes()) return false;
  KeepErrno keep;
  const std::string whole = absolute(folder, path);
  if (whole.empty() || is_in_scratch(whole)) return false;
  place = find(whole, Links::Follow);
  return place.is_folder() && has_own_listing(place);
}

// The next entry of a listing of ours; false, where it is libc's.
bool next_own(DIR* folder, dirent*& entry) {
  if (!is_holding()) return false;
  std::lock_guard lock(g_lock);
  const auto found = listings().find(folder);
  if (found == listings().end()) return false;
  Listing& listing = found->second;
  entry = listing.next < listing.entries.size() ? &listing.entries[listing.next++] : nullptr;
  return true;
}

}  // namespace

TIDEMARK_INSTEAD_OF("opendir", DIR*, held_opendir, const char* path) {
  Place place;
  if (!path || !find_own(AT_FDCWD, path, place)) return next_opendir(Lookup(path).path());
  DIR* opened = next_opendir(place.at.c_str());
  if (opened) keep_listing(opened, place);
  return opened;
}

TIDEMARK_INSTEAD_OF("fdopendir", DIR*, held_fdopendir, int folder) {
  TIDEMARK_NEXT("fdopendir", DIR * (int));
  DIR* opened = next(folder);
  Place place;
  if (opened && find_own(folder, ".", place)) keep_listing(opened, place);
  return opened;
}

#define TIDEMARK_READDIR(name, ours)                       \
  TIDEMARK_INSTEAD_OF(name, dirent*, ours, DIR* folder) {  \
    TIDEMARK_NEXT(name, dirent*(DIR*));                    \
    dirent* entry = nullptr;                               \
    return next_own(folder, entry) ? entry : next(folder); \
  }
TIDEMARK_READDIR("readdir", held_readdir)
TIDEMARK_READDIR("readdir64", held_readdir64)

#define TIDEMARK_READDIR_R(name, ours)                                                \
  TIDEMARK_INSTEAD_OF(name, int, ours, DIR* folder, dirent* entry, dirent** result) { \
    TIDEMARK_NEXT(name, int(DIR*, dirent*, dirent**));                                \
    dirent* found = nullptr;                                                          \
    if (!next_own(folder, found)) return next(folder, entry, result);                 \
    if (found) *entry = *found;                                                       \
    *result = found ? entry : nullptr;                                                \
    return 0;                                                                         \
  }
TIDEMARK_READDIR_R("readdir_r", held_readdir_r)
TIDEMARK_READDIR_R("readdir64_r", held_readdir64_r)

TIDEMARK_INSTEAD_OF("rewinddir", void, held_rewinddir, DIR* folder) {
  TIDEMARK_NEXT("rewinddir", void(DIR*));
  next(folder);
  if (!is_holding()) return;
  std::lock_guard lock(g_lock);
  if (const auto found = listings().find(folder); found != listings().end()) found->second.next = 0;
}

TIDEMARK_INSTEAD_OF("closedir", int, held_closedir, DIR* folder) {
  if (is_holding()) {
    std::lock_guard lock(g_lock);
    listings().erase(folder);
  }
  return next_closedir(folder);
}
