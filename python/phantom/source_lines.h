// Which line of the user's Python program is running.
#pragma once

#include <string>
#include <vector>

#include "tidemark/libtorch/phantom/log/storage_log.h"

namespace tidemark::phantom {

// Files under these folders are machinery, not the user's program.
void set_hidden_folders(std::vector<std::string> folders);

// The innermost line outside the hidden folders; an empty id on a thread without Python code.
StackId find_python_source(StorageLog& log);

// Forgets what was learned, for the next run.
void reset_source_lines();

}  // namespace tidemark::phantom
