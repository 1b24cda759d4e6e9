// Reads the text form of a tape: one event a line, made to be written by hand.
#pragma once

#include <string>
#include <string_view>

#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// Throws Error with line and column. `name` is what messages call the source.
Tape read_tape_text(std::string_view text, const std::string& name = "text");

}  // namespace tidemark
