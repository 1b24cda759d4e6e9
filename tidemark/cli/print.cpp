// Writes to standard output, and means it.
#include "tidemark/cli/print.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tidemark/engine/base/error.h"

namespace tidemark::cli {

void print(std::string_view text) {
  const bool complete = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (complete && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) return;
  throw Error(ErrorCode::Unreadable, std::string("cannot write: ") + std::strerror(errno),
              "standard output", "is the disk full?");
}

}  // namespace tidemark::cli
