// Opens the files that the command line names.
#pragma once

#include <string>

#include "tidemark/engine/tape/tape.h"
#include "tidemark/readers/naming.h"
#include "tidemark/readers/reader.h"

namespace tidemark::cli {

// The tape of a file of any kind that can be read, with a progress line when that takes long.
Tape open_input(const std::string& path, const Bindings& dimensions = {});

// What `analyse` finds in the tape of a file.
template <class Analyse>
auto answer_for(const std::string& path, Analyse&& analyse, const Bindings& dimensions = {}) {
  const Tape tape = open_input(path, dimensions);
  return naming(path, [&] { return analyse(tape); });
}

}  // namespace tidemark::cli
