// Copies of files into the scratch folder and out of it.
#pragma once

#include <string>

namespace tidemark::held_files {

// Makes all folders of a path in the scratch folder.
int make_folders(const std::string& path);
// A new file with the content, or none of it, and the mode of another; replaces what is there at
// once, so that whoever has the old one mapped keeps it.
int copy_file(const std::string& from, const std::string& to, bool with_content);
// Removes a folder with all that is in it, or a file.
void remove_tree(const std::string& path);

}  // namespace tidemark::held_files
