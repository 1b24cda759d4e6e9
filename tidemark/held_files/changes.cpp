// Every change is made to held/ and gone/; the disk gets new empty folders, and nothing else.
#include "tidemark/held_files/changes.h"

#include <cerrno>

#include "tidemark/held_files/copies.h"
#include "tidemark/held_files/scratch.h"
#include "tidemark/held_files/system_calls.h"

namespace tidemark::held_files {
namespace {

int fail(int problem) {
  errno = problem;
  return -1;
}

// The disk's file of this name is not seen any more.
int hide(const std::string& name) {
  remove_tree(gone(name));
  if (make_folders(gone(parent_of(name))) != 0) return -1;
  const int file = kernel::open(gone(name), O_WRONLY | O_CREAT, 0600);
  if (file < 0) return -1;
  kernel::close(file);
  note_change();
  return 0;
}

// Whether an entry may be made or removed in the folder that a name is in.
int check_parent(const std::string& name) {
  const Place parent = find_named(parent_of(name));
  if (parent.is_folder()) return kernel::access(parent.at, W_OK | X_OK);
  Place nearest = parent;
  while (!nearest.exists && nearest.name != "/") nearest = find_named(parent_of(nearest.name));
  return fail(nearest.is_folder() ? ENOENT : ENOTDIR);
}

// Room for a file of this name in held/.
int prepare_held(const std::string& name) {
  if (check_parent(name) != 0 || make_folders(held(parent_of(name))) != 0) return -1;
  note_change();
  return 0;
}

bool is_plain(const Place& place) { return S_ISREG(place.facts.st_mode); }

int copy_to_scratch(const Place& place, bool with_content) {
  if (kernel::access(place.at, W_OK) != 0) return -1;
  if (make_folders(held(parent_of(place.name))) != 0) return -1;
  note_change();
  return copy_file(place.at, held(place.name), with_content);
}

int prepare_existing(const Place& place, int flags, std::string& at) {
  at = place.at;
  if (!is_plain(place)) return 0;  // a device or a pipe is itself; a folder is refused by libc
  if ((flags & O_CREAT) && (flags & O_EXCL)) return fail(EEXIST);
  // A file that is to be emptied is made anew, for those who have it mapped; not under two names.
  if (place.is_held && (!(flags & O_TRUNC) || place.facts.st_nlink > 1)) return 0;
  if (copy_to_scratch(place, !(flags & O_TRUNC)) != 0) return -1;
  at = held(place.name);
  return 0;
}

// A file that changes between the scratch folder and a place that is let through.
int carry(const Place& from, const std::string& to) {
  const bool is_free = is_let_through(from.name);
  if (is_free && kernel::rename(from.name, to) == 0) return 0;
  if (copy_file(from.at, to, true) != 0) return -1;
  return is_free ? kernel::unlink(from.name) : remove_file(from.name);
}

int move_folder(const Place& from, const Place& to) {
  if (to.name.starts_with(from.name + "/")) return fail(EINVAL);
  if (to.exists && !to.is_folder()) return fail(ENOTDIR);
  if (to.exists && !list(to).empty()) return fail(ENOTEMPTY);
  if (!to.exists && make_folder(to.name, from.facts.st_mode & 07777) != 0) return -1;
  for (const Entry& entry : list(from)) {
    const std::string name = "/" + entry.name;
    if (move(from.name + name, to.name + name, true) != 0) return -1;
  }
  return remove_folder(from.name);
}

// What to put into held/ for a file of the disk; a link says again what it says.
std::string stand_in_for(const Place& place) {
  const auto link = S_ISLNK(place.facts.st_mode) ? kernel::readlink(place.at) : std::nullopt;
  return link ? *link : std::string(kMoved) + place.at;
}

// Gives a file another name in held/: itself where it is held, else a link that stands for it.
int put_under(const Place& from, const std::string& to) {
  if (prepare_held(to) != 0) return -1;
  struct stat facts;
  if (kernel::look_at(held(from.name), facts)) return kernel::rename(held(from.name), held(to));
  const std::string made = fresh();
  if (kernel::symlink(stand_in_for(from), made) != 0) return -1;
  return kernel::rename(made, held(to));
}

int move_file(const Place& from, const Place& to) {
  if (to.is_folder()) return fail(EISDIR);
  const bool is_outside = is_let_through(to.name);
  // A link of the disk may lead to a folder: what is below it must not be found any more.
  const bool is_link_lost = !is_outside && S_ISLNK(to.facts.st_mode) && is_on_disk(to.name);
  if (is_link_lost && hide(to.name) != 0) return -1;
  if (is_outside || is_let_through(from.name)) {
    if (!is_outside && prepare_held(to.name) != 0) return -1;
    return carry(from, is_outside ? to.name : held(to.name));
  }
  if (check_parent(from.name) != 0 || put_under(from, to.name) != 0) return -1;
  return is_on_disk(from.name) ? hide(from.name) : 0;
}

}  // namespace

int prepare_open(const std::string& path, int flags, std::string& at) {
  const bool is_new = (flags & O_CREAT) && (flags & O_EXCL);
  const Place place = find(path, is_new || (flags & O_NOFOLLOW) ? Links::Keep : Links::Follow);
  at = place.at;
  if (is_let_through(place.name)) return 0;
  if (place.exists) return prepare_existing(place, flags, at);
  if (!(flags & O_CREAT)) return 0;  // libc says why it is not there
  if (prepare_held(place.name) != 0) return -1;
  at = held(place.name);
  return 0;
}

int prepare_change(const std::string& path, std::string& at) {
  const Place place = find(path, Links::Follow);
  at = place.at;
  if (is_let_through(place.name) || !place.exists || place.is_held || !is_plain(place)) return 0;
  if (copy_to_scratch(place, true) != 0) return -1;
  at = held(place.name);
  return 0;
}

int remove_file(const std::string& path) {
  const Place place = find(path, Links::Keep);
  if (!place.exists || is_let_through(place.name)) return kernel::unlink(place.at);
  if (place.is_folder()) return fail(EISDIR);
  if (check_parent(place.name) != 0) return -1;
  note_change();
  if (place.is_changed && kernel::unlink(held(place.name)) != 0) return -1;
  if (!is_on_disk(place.name)) return 0;
  const bool is_file = is_plain(place) || S_ISLNK(place.facts.st_mode);
  if (!is_file || is_made(parent_of(place.name))) return kernel::unlink(place.name);
  return hide(place.name);
}

int make_folder(const std::string& path, mode_t mode) {
  const Place place = find(path, Links::Keep);
  if (place.exists) return fail(EEXIST);
  if (is_let_through(place.name)) return kernel::mkdir(place.name, mode);
  if (check_parent(place.name) != 0) return -1;
  note_change();
  // On the disk too, where it can be: programs that are not ours to hold write into it.
  if (!place.is_changed && is_on_disk(parent_of(place.name))) {
    if (kernel::mkdir(place.name, mode) != 0) return -1;
    note_made(place.name);
    return 0;
  }
  return make_folders(held(place.name));
}

int remove_folder(const std::string& path) {
  const Place place = find(path, Links::Keep);
  if (!place.exists || is_let_through(place.name)) return kernel::rmdir(place.at);
  if (!place.is_folder()) return fail(ENOTDIR);
  if (!list(place).empty()) return fail(ENOTEMPTY);
  if (check_parent(place.name) != 0) return -1;
  note_change();
  remove_tree(held(place.name));
  if (!is_on_disk(place.name)) return 0;
  if (!is_made(place.name) || kernel::rmdir(place.name) != 0) return hide(place.name);
  remove_tree(gone(place.name));
  return 0;
}

int move(const std::string& from, const std::string& to, bool may_replace) {
  const Place source = find(from, Links::Keep), target = find(to, Links::Keep);
  const bool is_outside = is_let_through(source.name) && is_let_through(target.name);
  if (!source.exists || is_outside) return kernel::rename(source.at, target.at);
  if (source.name == target.name) return 0;
  if (target.exists && !may_replace) return fail(EEXIST);
  note_change();
  return source.is_folder() ? move_folder(source, target) : move_file(source, target);
}

int make_link(const std::string& target, const std::string& path) {
  const Place place = find(path, Links::Keep);
  if (place.exists) return fail(EEXIST);
  if (is_let_through(place.name)) return kernel::symlink(target, place.name);
  if (prepare_held(place.name) != 0) return -1;
  return kernel::symlink(target, held(place.name));
}

int make_hard_link(const std::string& from, const std::string& to, Links links) {
  const Place source = find(from, links), target = find(to, Links::Keep);
  if (!source.exists) return fail(ENOENT);
  if (target.exists) return fail(EEXIST);
  if (check_parent(target.name) != 0) return -1;
  if (source.is_folder()) return fail(EPERM);
  const bool is_outside = is_let_through(target.name);
  if (is_outside && is_let_through(source.name))
    return static_cast<int>(
        syscall(SYS_linkat, AT_FDCWD, source.name.c_str(), AT_FDCWD, target.name.c_str(), 0));
  if (is_outside) return copy_file(source.at, target.name, true);
  if (prepare_held(target.name) != 0) return -1;
  if (source.is_held)
    return static_cast<int>(
        syscall(SYS_linkat, AT_FDCWD, source.at.c_str(), AT_FDCWD, held(target.name).c_str(), 0));
  return kernel::symlink(stand_in_for(source), held(target.name));
}

}  // namespace tidemark::held_files
