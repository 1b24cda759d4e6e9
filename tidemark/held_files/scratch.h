// The scratch folder of a run, and which names of the disk it stands in for.
//
//   SCRATCH/held/home/me/out/last.pt   a file that the script wrote as /home/me/out/last.pt
//   SCRATCH/gone/home/me/out/best.pt   /home/me/out/best.pt was removed: it is on the disk, unseen
//   SCRATCH/made                       folders that the run made on the disk, a line each
//   SCRATCH/changes                    one counter, shared by all processes of the run
//
// A removed folder hides all that is below it on the disk, also when it is made anew. What was
// moved without being written is in held/ as a link that begins with kMoved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::held_files {

// Begins the target of a link that stands for a file of the disk under another name.
inline constexpr std::string_view kMoved = "tidemark-moved:";

// From here on this process's changes go to the scratch folder. `let_through` are folders, with
// colons between them, that are changed for real. False, where the folder cannot be used.
bool begin_holding(const std::string& scratch, std::string_view let_through);
bool is_holding();
// False until any process of the run has changed something: until then the disk is all there is.
bool has_changes();
void note_change();

std::string held(std::string_view name);
std::string gone(std::string_view name);
// A name in the scratch folder that nobody has.
std::string fresh();
bool is_in_scratch(std::string_view path);
// The script's name of what lies in held/; any other path stays as it is.
std::string name_in_held(std::string path);

// True for devices, caches and other places that are changed for real.
bool is_let_through(std::string_view name);

void note_made(const std::string& folder);
bool is_made(std::string_view folder);
// The folders that a run made on the disk, in its order.
std::vector<std::string> made_folders(const std::string& scratch);

}  // namespace tidemark::held_files
