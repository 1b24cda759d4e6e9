// What the script sees: the disk, with the scratch folder laid over it.
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include <string>
#include <vector>

namespace tidemark::held_files {

enum class Links { Follow, Keep };  // of a path's last part; those before it are always followed

struct Place {
  std::string name;  // the script's: absolute, without links
  std::string at;    // where its bytes are; of what is nowhere, a path that is not there either
  bool exists = false;
  bool is_held = false;          // it is in the scratch folder
  bool is_changed = false;       // the disk alone would have told something else of this name
  bool is_by_held_link = false;  // and of the path that led to it
  struct stat facts = {};        // where it exists
  bool is_folder() const { return exists && S_ISDIR(facts.st_mode); }
};

// Empty, where nobody can tell: a path that is relative to what is no folder.
std::string absolute(int folder, const char* path);
Place find(const std::string& absolute, Links links);
// What is there under a name without links.
Place find_named(const std::string& name);
std::string parent_of(const std::string& name);
// Whether the disk has it and the script did not remove it; what is held beside does not count.
bool is_on_disk(const std::string& name);

struct Entry {
  std::string name;
  unsigned char kind;  // as in a dirent
};

// The entries of a folder, without "." and "..".
std::vector<Entry> list(const Place& folder);
// True when the disk's listing of the folder is not what the script should see.
bool has_own_listing(const Place& folder);

}  // namespace tidemark::held_files
