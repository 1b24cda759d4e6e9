// How a process begins to hold files back: it is told to, or was started by one that does.
#include <cstdlib>

#include "tidemark/held_files/copies.h"
#include "tidemark/held_files/scratch.h"
#include "tidemark/held_files/system_calls.h"

namespace {

// Python tells its children by these (python/tidemark/estimation/held_files.py).
constexpr const char* kScratch = "TIDEMARK_SCRATCH";
constexpr const char* kLetThrough = "TIDEMARK_LET_THROUGH";

__attribute__((constructor)) void hold_as_a_child() {
  const char *scratch = std::getenv(kScratch), *let_through = std::getenv(kLetThrough);
  if (scratch && *scratch)
    tidemark::held_files::begin_holding(scratch, let_through ? let_through : "");
}

}  // namespace

// From now on: 1, or 0 where the folder cannot be used.
extern "C" __attribute__((visibility("default"))) int tidemark_hold_files(const char* scratch,
                                                                          const char* let_through) {
  return tidemark::held_files::begin_holding(scratch, let_through);
}

// After a run: its scratch folder goes, and of the folders that it made those that are empty.
extern "C" __attribute__((visibility("default"))) void tidemark_remove_scratch(
    const char* scratch) {
  const auto made = tidemark::held_files::made_folders(scratch);
  for (auto folder = made.rbegin(); folder != made.rend(); ++folder)
    tidemark::held_files::kernel::rmdir(*folder);
  tidemark::held_files::remove_tree(scratch);
}
