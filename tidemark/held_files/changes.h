// What a script may do to files: each does it in the scratch folder, and answers as libc would.
//
// All return 0, or -1 with errno set. Paths are absolute.
#pragma once

#include <sys/types.h>

#include <string>

#include "tidemark/held_files/overlay.h"

namespace tidemark::held_files {

// Where to open a file with these flags: of one that may be written, its copy in the scratch
// folder.
int prepare_open(const std::string& path, int flags, std::string& at);
// A file that is to be changed in place, and must exist.
int prepare_change(const std::string& path, std::string& at);

int remove_file(const std::string& path);
int make_folder(const std::string& path, mode_t mode);
int remove_folder(const std::string& path);
int move(const std::string& from, const std::string& to, bool may_replace);
int make_link(const std::string& target, const std::string& path);
// A second name for a file: of one on the disk, as if it were a copy.
int make_hard_link(const std::string& from, const std::string& to, Links links);

}  // namespace tidemark::held_files
