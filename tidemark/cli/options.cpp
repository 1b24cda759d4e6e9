// Shared flags: names, checks, and one line of help each.
#include "tidemark/cli/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace tidemark::cli {
namespace {

template <class T>
std::optional<T> whole_number(const std::string& text) {
  T value{};
  const char* last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, value);
  if (problem != std::errc{} || end != last || value > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return value;
}

std::string shown(const std::string& text) { return text.substr(0, 40); }

std::string check_count(const std::string& text) {
  if (whole_number<std::uint64_t>(text)) return {};
  return fmt::format("\"{}\" is not a whole number from 0 up", shown(text));
}

std::string check_units(const std::string& text) {
  if (units_named(text)) return {};
  return fmt::format("\"{}\" is not one of auto, B, KiB, MiB, GiB, TiB", shown(text));
}

std::string check_binding(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != 0 && equals != std::string::npos &&
      whole_number<std::int64_t>(text.substr(equals + 1)))
    return {};
  return fmt::format("\"{}\" is not NAME=NUMBER", shown(text));
}

// The last one counts when a flag is given twice: an alias can be overruled.
CLI::Option* add_text(CLI::App& parser, const char* flag, const char* placeholder,
                      const std::string& help, std::function<void(const std::string&)> take) {
  return parser.add_option_function<std::string>(flag, std::move(take), help)
      ->type_name(placeholder)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_step(CLI::App& parser, std::optional<std::int64_t>& step) {
  add_text(parser, "--step", "N", "only this training step; 0 is what comes before step 1",
           [&step](const std::string& text) { step = whole_number<std::uint64_t>(text); })
      ->check(check_count);
}

constexpr const char* kFile = "a tape, an exported model (.pt2), or a profiler's trace";

void add_bind(CLI::App& parser, Bindings& dimensions) {
  parser
      .add_option_function<std::vector<std::string>>(
          "--bind",
          [&dimensions](const std::vector<std::string>& all) {
            for (const std::string& text : all) {
              const std::size_t equals = text.find('=');
              const auto value = whole_number<std::int64_t>(text.substr(equals + 1));
              dimensions[text.substr(0, equals)] = *value;
            }
          },
          "a size of an exported model that is not fixed, as in batch=32")
      ->type_name("NAME=N")
      ->check(check_binding);
}

}  // namespace

void add_trace_flags(CLI::App& parser, Input& input) {
  add_text(parser, "--with", "FILE", "an execution trace of the same run, for a profiler's trace",
           [&input](const std::string& path) { input.companion = path; });
  parser.add_flag("--salvage", input.salvage, "read a damaged trace up to the damage");
}

void add_input(CLI::App& parser, Input& input) {
  parser.add_option("FILE", input.file, kFile)->required()->type_name("");
  add_bind(parser, input.dimensions);
  add_trace_flags(parser, input);
}

void add_inputs(CLI::App& parser, Input& input, std::vector<std::string>& more) {
  parser
      .add_option_function<std::vector<std::string>>(
          "FILE",
          [&input, &more](const std::vector<std::string>& all) {
            input.file = all.front();
            more.assign(all.begin() + 1, all.end());
          },
          std::string(kFile) + "; several are ranks")
      ->required()
      ->type_name("");
  add_bind(parser, input.dimensions);
  add_trace_flags(parser, input);
}

void add_json(CLI::App& parser, Output& output) {
  parser.add_flag("--json", output.json, "print JSON for programs instead of text");
}

void add_output(CLI::App& parser, Output& output) {
  add_json(parser, output);
  add_text(parser, "--units", "U", "auto (default), B, KiB, MiB, GiB or TiB; text only",
           [&output](const std::string& text) { output.units = *units_named(text); })
      ->check(check_units);
}

void add_device(CLI::App& parser, std::optional<std::string>& device) {
  add_text(parser, "--device", "NAME", "only this device, as in cuda:0",
           [&device](const std::string& text) { device = text; });
}

void add_selection(CLI::App& parser, Selection& selection) {
  add_device(parser, selection.device);
  add_step(parser, selection.step);
}

CLI::Option* add_count(CLI::App& parser, const char* flag, std::size_t& count,
                       const std::string& help) {
  return add_text(parser, flag, "N", help,
                  [&count](const std::string& text) { count = *whole_number<std::uint64_t>(text); })
      ->check(check_count);
}

CLI::Option* add_top(CLI::App& parser, std::size_t& top, const char* of_what) {
  return add_count(parser, "--top", top, fmt::format("how many {} ({} unless told)", of_what, top));
}

void add_full(CLI::App& parser, Output& output) {
  parser.add_flag_callback(
      "--full", [&output] { output.detail = Detail::Full; },
      "every device and module, all notes, and as many rows as --top says");
}

CLI::Option* add_depth(CLI::App& parser, std::size_t& depth) {
  const std::string unless_told = depth == 0 ? "all" : std::to_string(depth);
  return add_count(parser, "--depth", depth,
                   fmt::format("levels of modules; 0 is all ({} unless told)", unless_told));
}

}  // namespace tidemark::cli
