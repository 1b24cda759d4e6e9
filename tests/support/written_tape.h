// Tapes of a few lines, for tests that say what they replay.
#pragma once

#include <string>

#include "tidemark/engine/tape/text_reader.h"

namespace tidemark::test {

inline Tape written_tape(const std::string& lines) { return read_tape_text("tape 1\n" + lines); }
inline Tape cpu_tape(const std::string& lines) { return written_tape("device cpu\n" + lines); }

}  // namespace tidemark::test
