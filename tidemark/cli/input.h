// Opens the files that the command line names.
#pragma once

#include <string>

#include "tidemark/engine/tape/tape.h"
#include "tidemark/readers/naming.h"
#include "tidemark/readers/reader.h"

namespace tidemark::cli {

// A file, and how it is to be read.
struct Input {
  std::string file;
  Bindings dimensions = {};    // of an exported model
  std::string companion = {};  // an execution trace to join to a profiler's
  bool salvage = false;        // read what a damaged trace has before the damage
};

// The tape of a file of any kind that can be read, with a progress line when that takes long.
Tape open_input(const Input& input);

// What `analyse` finds in the tape of a file.
template <class Analyse>
auto answer_for(const Input& input, Analyse&& analyse) {
  const Tape tape = open_input(input);
  return naming(input.file, [&] { return analyse(tape); });
}

}  // namespace tidemark::cli
