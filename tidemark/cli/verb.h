// What a verb of the command is: its words in the help, its flags, and what it does.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace CLI {
class App;
}

namespace tidemark::cli {

// The command's answers to a script.
inline constexpr int kOk = 0;
inline constexpr int kFound = 1;   // differences, violations
inline constexpr int kFailed = 2;  // wrong usage, or input that cannot be read

// Does the work once the flags are parsed; returns the exit code.
using Action = std::function<int()>;

struct Verb {
  std::string_view name;
  std::string_view summary;             // one line, for the list of verbs
  std::string_view examples;            // two or three lines, for the verb's own help
  Action (*prepare)(CLI::App& parser);  // adds the verb's flags
  // For verbs that another program parses and runs, instead of `prepare`.
  int (*hand_over)(int argc, char** argv) = nullptr;
};

}  // namespace tidemark::cli
