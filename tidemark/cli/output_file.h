// Writes a file whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tidemark/engine/base/byte_stream.h"

namespace tidemark::cli {

// Writes beside `path` and renames at the end, so that no half file ever has its name. Returns
// the size. Throws Error, and leaves nothing behind.
std::uint64_t write_whole_file(const std::string& path,
                               const std::function<void(ByteSink&)>& write);

}  // namespace tidemark::cli
