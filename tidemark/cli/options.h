// The flags that verbs share; each verb adds those that make sense for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

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

void add_file(CLI::App& parser, std::string& path);
void add_json(CLI::App& parser, Output& output);
void add_output(CLI::App& parser, Output& output);  // --json and --units
void add_device(CLI::App& parser, std::optional<std::string>& device);
void add_selection(CLI::App& parser, Selection& selection);  // --device and --step
CLI::Option* add_top(CLI::App& parser, std::size_t& top, const char* of_what);
CLI::Option* add_depth(CLI::App& parser, std::size_t& depth);
void add_full(CLI::App& parser, Output& output);
// --bind NAME=VALUE, as often as there are dimensions.
void add_bind(CLI::App& parser, std::map<std::string, std::int64_t, std::less<>>& dimensions);
// A whole number from 0 up; anything else is refused by name.
CLI::Option* add_count(CLI::App& parser, const char* flag, std::size_t& count,
                       const std::string& help);

}  // namespace tidemark::cli
