// Opens the tapes that the command line names.
#pragma once

#include <string>
#include <utility>

#include "tidemark/base/error.h"
#include "tidemark/tape/codec.h"
#include "tidemark/tape/tape.h"

namespace tidemark::cli {

// The compressor of this build; null when it was built without one.
const Codec* tape_codec();

// Reads a tape of either form, with a progress line when that takes long.
Tape open_input(const std::string& path);

// The same error, saying which file it is about.
Error about_file(const Error& error, const std::string& path);

// What `work` returns; its errors name the file.
template <class Work>
auto naming(const std::string& path, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const Error& error) {
    throw about_file(error, path);
  }
}

// What `analyse` finds in the tape of a file.
template <class Analyse>
auto answer_for(const std::string& path, Analyse&& analyse) {
  const Tape tape = open_input(path);
  return naming(path, [&] { return analyse(tape); });
}

}  // namespace tidemark::cli
