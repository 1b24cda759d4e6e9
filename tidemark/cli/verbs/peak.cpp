// `tidemark peak`: the highest moment of each device.
#include "tidemark/engine/analyses/peak.h"

#include <CLI/CLI.hpp>

#include "tidemark/cli/question.h"
#include "tidemark/cli/verbs/catalogue.h"

namespace tidemark::cli {
namespace {

Action prepare_peak(CLI::App& parser) {
  auto asked = ask<PeakOptions>();
  add_input(parser, asked->input);
  add_selection(parser, asked->options);
  add_top(parser, asked->options.top, "of the largest storages");
  add_depth(parser, asked->options.depth);
  parser
      .add_option("--alloc-conf", asked->options.allocator_settings,
                  "what PyTorch's allocator would hold then, with these settings")
      ->type_name("SETTINGS");
  add_full(parser, asked->output);
  add_output(parser, asked->output);
  return answering(asked, &find_peak);
}

}  // namespace

const Verb kPeak = {"peak", "the highest moment: how much, when, and what was alive",
                    R"(  tidemark peak run.tape
  tidemark peak run.tape --top 30            more of the largest storages
  tidemark peak run.tape --step 1 --json     one step, for a program
  tidemark peak run.tape --alloc-conf expandable_segments:True)",
                    &prepare_peak};

}  // namespace tidemark::cli
