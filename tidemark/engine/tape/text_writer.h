// Writes a tape in its text form.
#pragma once

#include <string>

#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// read_tape_text gives the same events back, as long as a builder made them: storages are numbered
// anew in the order of their first mention, and a negative size becomes 0.
std::string write_tape_text(const Tape& tape);

}  // namespace tidemark
