// Opening with a progress line.
#include "tidemark/cli/input.h"

#include "tidemark/cli/progress.h"
#include "tidemark/readers/catalogue.h"

namespace tidemark::cli {

Tape open_input(const Input& input) {
  ProgressLine line(input.file);
  return open_file(input.file, {.progress = {&ProgressLine::note, &line},
                                .dimensions = input.dimensions,
                                .salvage = input.salvage,
                                .companion = input.companion});
}

}  // namespace tidemark::cli
