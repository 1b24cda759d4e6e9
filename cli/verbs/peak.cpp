// `tidemark peak`: the highest moment of each device.
#include "input.h"
#include "print.h"
#include "tidemark/analyses/peak.h"
#include "verbs/catalogue.h"

namespace tidemark::cli {
namespace {

Action prepare(CLI::App& parser) {
  struct Given {
    std::string file;
    PeakOptions options;
    Output output;
  };
  auto given = std::make_shared<Given>();
  add_file(parser, given->file);
  add_selection(parser, given->options);
  add_top(parser, given->options.top, "of the largest storages");
  add_output(parser, given->output);
  return [given] {
    print_answer(answer_for(given->file,
                            [&](const Tape& tape) { return find_peak(tape, given->options); }),
                 given->output);
    return kOk;
  };
}

}  // namespace

const Verb kPeak = {
    "peak", "the highest moment: how much, when, and what was alive",
    R"(  tidemark peak run.tape
  tidemark peak run.tape --top 30            more of the largest storages
  tidemark peak run.tape --step 1 --json     one step, for a program)",
    &prepare};

}  // namespace tidemark::cli
