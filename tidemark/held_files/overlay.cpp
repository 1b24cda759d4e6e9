// Finds names: a walk from the root that looks into the scratch folder first, then at the disk.
#include "tidemark/held_files/overlay.h"

#include <cerrno>
#include <deque>
#include <set>
#include <string_view>

#include "tidemark/held_files/next_call.h"
#include "tidemark/held_files/scratch.h"
#include "tidemark/held_files/system_calls.h"

namespace tidemark::held_files {
namespace {

constexpr int kMostLinks = 40;  // as the kernel has it

// A removed name is a file in gone/: of what is below it, that file is no folder.
bool is_gone(const std::string& name) {
  struct stat facts;
  if (kernel::look_at(gone(name), facts)) return !S_ISDIR(facts.st_mode);
  return errno == ENOTDIR;
}

bool is_moved(const std::optional<std::string>& link) { return link && link->starts_with(kMoved); }

struct Link {
  std::string target;
  bool is_held = false;
};

// Looks for links on the way down a path. Below a folder that held/ or gone/ lacks, they have
// nothing.
class LinkFinder {
 public:
  std::optional<Link> at(const std::string& name) {
    struct stat facts;
    if (in_held_) in_held_ = kernel::look_at(held(name), facts);
    if (in_held_) {
      const auto target = S_ISLNK(facts.st_mode) ? kernel::readlink(held(name)) : std::nullopt;
      if (target && !is_moved(target)) return Link{*target, true};
      if (!S_ISDIR(facts.st_mode)) return std::nullopt;
    }
    if (in_gone_) in_gone_ = kernel::look_at(gone(name), facts) || errno == ENOTDIR;
    if (in_gone_ && is_gone(name)) return std::nullopt;
    const auto target = kernel::readlink(name);
    if (!target) return std::nullopt;
    return Link{*target};
  }
  void start_again() { in_held_ = in_gone_ = true; }

 private:
  bool in_held_ = true, in_gone_ = true;
};

void put_before(std::deque<std::string>& parts, std::string_view path) {
  std::deque<std::string> more;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) more.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  parts.insert(parts.begin(), more.begin(), more.end());
}

// The name without links, and whether a link of the scratch folder was on the way.
std::pair<std::string, bool> without_links(const std::string& path, Links links) {
  std::deque<std::string> parts;
  put_before(parts, path);
  std::string name;
  bool by_held = false;
  LinkFinder finder;
  for (int count = 0; !parts.empty();) {
    const std::string part = parts.front();
    parts.pop_front();
    if (part == ".") continue;
    if (part == "..") {
      name = name.empty() ? name : name.substr(0, name.rfind('/'));
      finder.start_again();
      continue;
    }
    const std::string next = name + "/" + part;
    const bool is_kept = parts.empty() && links == Links::Keep;
    const auto link = is_kept || count >= kMostLinks ? std::nullopt : finder.at(next);
    if (!link) {
      name = next;
      continue;
    }
    ++count;
    finder.start_again();
    by_held = by_held || link->is_held;
    if (link->target.starts_with('/')) name.clear();
    put_before(parts, link->target);
  }
  return {name.empty() ? "/" : name, by_held};
}

std::string folder_of_descriptor(int folder) {
  const auto path = kernel::readlink("/proc/self/fd/" + std::to_string(folder));
  return path && path->starts_with('/') ? name_in_held(*path) : "";
}

std::string working_folder() {
  char path[PATH_MAX];
  return syscall(SYS_getcwd, path, sizeof path) > 0 ? name_in_held(path) : "";
}

}  // namespace

std::string absolute(int folder, const char* path) {
  if (*path == '/') return path;
  const std::string base = folder == AT_FDCWD ? working_folder() : folder_of_descriptor(folder);
  return base.empty() ? base : base + "/" + path;
}

std::string parent_of(const std::string& name) {
  const std::size_t end = name.rfind('/');
  return end == 0 || end == std::string::npos ? "/" : name.substr(0, end);
}

bool is_on_disk(const std::string& name) {
  struct stat facts;
  return !is_gone(name) && kernel::look_at(name, facts);
}

Place find_named(const std::string& name) {
  Place place{name, name};
  struct stat facts;
  if (!kernel::look_at(held(name), facts)) {
    place.is_changed = is_gone(name);
    if (place.is_changed) place.at = held(name);
    else place.exists = kernel::look_at(name, place.facts);
    return place;
  }
  place.exists = true;
  if (S_ISDIR(facts.st_mode) && is_on_disk(name)) {
    kernel::look_at(name, place.facts);
    return place;
  }
  place.is_changed = true;
  const auto link = S_ISLNK(facts.st_mode) ? kernel::readlink(held(name)) : std::nullopt;
  place.is_held = !is_moved(link);
  place.at = place.is_held ? held(name) : link->substr(kMoved.size());
  place.exists = kernel::look_at(place.at, place.facts);
  return place;
}

Place find(const std::string& absolute, Links links) {
  const auto [name, by_held] = without_links(absolute, links);
  Place place = find_named(name);
  place.is_by_held_link = by_held;
  return place;
}

bool has_own_listing(const Place& folder) {
  struct stat facts;
  return folder.is_changed || kernel::look_at(held(folder.name), facts) ||
         kernel::look_at(gone(folder.name), facts);
}

std::vector<Entry> list(const Place& folder) {
  std::vector<Entry> entries;
  std::set<std::string> seen = {".", ".."};
  const std::string below = folder.name == "/" ? "/" : folder.name + "/";
  const auto add_all = [&](const std::string& path, bool is_disk) {
    DIR* open = next_opendir(path.c_str());
    if (!open) return;
    while (const dirent* entry = next_readdir(open)) {
      const std::string name = entry->d_name;
      if (seen.contains(name) || (is_disk && is_gone(below + name))) continue;
      seen.insert(name);
      const bool is_link = !is_disk && entry->d_type == DT_LNK;
      const bool stands_for_file = is_link && is_moved(kernel::readlink(path + "/" + name));
      entries.push_back(
          {name, stands_for_file ? static_cast<unsigned char>(DT_REG) : entry->d_type});
    }
    next_closedir(open);
  };
  add_all(held(folder.name), false);
  if (is_on_disk(folder.name)) add_all(folder.name, true);
  return entries;
}

}  // namespace tidemark::held_files
