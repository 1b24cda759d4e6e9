// Opening with a progress line.
#include "tidemark/cli/input.h"

#include "tidemark/cli/progress.h"
#include "tidemark/readers/catalogue.h"

namespace tidemark::cli {

Tape open_input(const std::string& path, const Bindings& dimensions) {
  ProgressLine line(path);
  return open_file(path, {.progress = {&ProgressLine::note, &line}, .dimensions = dimensions});
}

}  // namespace tidemark::cli
