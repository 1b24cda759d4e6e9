// `tidemark timeline`: bytes by category over the run.
#include <CLI/CLI.hpp>

#include "tidemark/cli/question.h"
#include "tidemark/cli/verbs/catalogue.h"
#include "tidemark/engine/analyses/overview.h"

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

Action prepare_timeline(CLI::App& parser) {
  auto asked = ask<TimelineOptions>();
  asked->options.columns = OverviewOptions().columns;
  add_input(parser, asked->input);
  add_selection(parser, asked->options);
  add_axis(parser, asked->options.axis);
  add_count(parser, "--columns", asked->options.columns, "points to draw into; 0 is every change");
  add_output(parser, asked->output);
  return answering(asked, &find_timeline);
}

}  // namespace

const Verb kTimeline = {"timeline", "bytes by category from the first event to the last",
                        R"(  tidemark timeline run.tape
  tidemark timeline run.tape --by time --step 1
  tidemark timeline run.tape --json --columns 0    every change, exactly)",
                        &prepare_timeline};

}  // namespace tidemark::cli
