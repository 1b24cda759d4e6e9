// Opens any file that the command or Python is given: the one list of readers.
#pragma once

#include <span>
#include <string>

#include "tidemark/engine/tape/tape.h"
#include "tidemark/readers/reader.h"

namespace tidemark {

// The more particular ones first: a file belongs to the first that says so.
std::span<const Reader* const> readers();

// Never without an answer: the last of the list take what is left.
const Reader& find_reader(const Candidate& file);

// The tape of a file of any kind. Throws Error for what cannot be read; it says what the file is
// and what to do with it, and names the file.
Tape open_file(const std::string& path, const InputOptions& options = {});

}  // namespace tidemark
