// Faults: a signal that ends the process says first which operator ran, and for which source line.
#pragma once

#include <string_view>

#include "tidemark/engine/base/ids.h"

namespace tidemark::phantom {

// From now on, until the second: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT (which ends an
// exception that nobody catches) write a message. Then they do what they did before, so that core
// dumps, other handlers and exit codes stay.
void watch_faults();
void unwatch_faults();

// The text of a line, which a handler must find without a lock: "train.py", 12.
void remember_line(StackId id, std::string_view file, std::uint32_t line);
void forget_lines();

}  // namespace tidemark::phantom
