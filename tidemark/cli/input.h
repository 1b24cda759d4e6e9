// Opens the tapes that the command line names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/codec.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark::cli {

// The compressor of this build; null when it was built without one.
const Codec* tape_codec();

// Values for the dimensions of an exported model, by name.
using Dimensions = std::map<std::string, std::int64_t, std::less<>>;

// Reads a tape of either form, with a progress line when that takes long, or an exported model.
Tape open_input(const std::string& path, const Dimensions& dimensions = {});

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
auto answer_for(const std::string& path, Analyse&& analyse, const Dimensions& dimensions = {}) {
  const Tape tape = open_input(path, dimensions);
  return naming(path, [&] { return analyse(tape); });
}

}  // namespace tidemark::cli
