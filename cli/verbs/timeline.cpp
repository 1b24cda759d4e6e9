// `tidemark timeline`: bytes by category over the run.
#include <CLI/CLI.hpp>

#include "input.h"
#include "print.h"
#include "tidemark/analyses/timeline.h"
#include "verbs/catalogue.h"

namespace tidemark::cli {
namespace {

void add_axis(CLI::App& parser, TimelineAxis& axis) {
  static const std::map<std::string, TimelineAxis> kAxes = {{"events", TimelineAxis::Events},
                                                            {"time", TimelineAxis::Time}};
  parser
      .add_option_function<std::string>(
          "--by", [&axis](const std::string& name) { axis = kAxes.at(name); },
          "what the chart runs along: events (default) or time")
      ->type_name("AXIS")
      ->check([](const std::string& name) {
        return kAxes.contains(name) ? std::string() : "an axis is one of events, time";
      });
}

Action prepare(CLI::App& parser) {
  struct Given {
    std::string file;
    TimelineOptions options;
    Output output;
  };
  auto given = std::make_shared<Given>();
  given->options.columns = chart_columns();
  add_file(parser, given->file);
  add_selection(parser, given->options);
  add_axis(parser, given->options.axis);
  add_count(parser, "--columns", given->options.columns,
            "points to draw into; 0 is every change (as wide as the terminal unless told)");
  add_output(parser, given->output);
  return [given] {
    print_answer(answer_for(given->file,
                            [&](const Tape& tape) { return find_timeline(tape, given->options); }),
                 given->output);
    return kOk;
  };
}

}  // namespace

const Verb kTimeline = {
    "timeline", "bytes by category from the first event to the last",
    R"(  tidemark timeline run.tape
  tidemark timeline run.tape --by time --step 1
  tidemark timeline run.tape --json --columns 0    every change, exactly)",
    &prepare};

}  // namespace tidemark::cli
