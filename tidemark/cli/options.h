// The flags that verbs share; each verb adds those that make sense for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/cli/input.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/base/units.h"
#include "tidemark/engine/reports/text.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tidemark::cli {

// How an answer is to be printed.
struct Output {
  bool json = false;
  Units units = Units::Auto;
  Detail detail = Detail::Brief;
  std::size_t rows = 0;  // of the lists in a report; 0: as many as the detail has
};

// FILE, and --bind, --with and --salvage for files of some kinds.
void add_input(CLI::App& parser, Input& input);
// FILE as often as there are files; the first is the input's, the others go to `more`.
void add_inputs(CLI::App& parser, Input& input, std::vector<std::string>& more);
// --with and --salvage alone.
void add_trace_flags(CLI::App& parser, Input& input);
void add_json(CLI::App& parser, Output& output);
void add_output(CLI::App& parser, Output& output);  // --json and --units
void add_device(CLI::App& parser, std::optional<std::string>& device);
void add_selection(CLI::App& parser, Selection& selection);  // --device and --step
CLI::Option* add_top(CLI::App& parser, std::size_t& top, const char* of_what);
CLI::Option* add_depth(CLI::App& parser, std::size_t& depth);
void add_full(CLI::App& parser, Output& output);
// A whole number from 0 up; anything else is refused by name.
CLI::Option* add_count(CLI::App& parser, const char* flag, std::size_t& count,
                       const std::string& help);

}  // namespace tidemark::cli
