// Writes a tape in its text form.
#pragma once

#include <string>

#include "tidemark/tape/tape.h"

namespace tidemark {

// read_tape_text gives the same tape back, as long as a builder made it.
std::string write_tape_text(const Tape& tape);

}  // namespace tidemark
