// The help of the whole command.
#pragma once

#include <string>

namespace tidemark::cli {

// The verbs in one line each, and an example session.
std::string command_help();

}  // namespace tidemark::cli
