// Asks everything that can be asked of a tape: no answer may crash, whatever the tape.
#pragma once

#include "tidemark/engine/tape/tape.h"

namespace tidemark::test {

void ask_every_question(const Tape& tape);

}  // namespace tidemark::test
