// `tidemark report`: the first look at a tape.
#include "input.h"
#include "print.h"
#include "tidemark/analyses/overview.h"
#include "verbs/catalogue.h"

namespace tidemark::cli {
namespace {

Action prepare(CLI::App& parser) {
  struct Given {
    std::string file;
    OverviewOptions options;
    Output output;
  };
  auto given = std::make_shared<Given>();
  add_file(parser, given->file);
  add_selection(parser, given->options);
  add_depth(parser, given->options.depth);
  add_top(parser, given->options.top, "of the largest storages");
  add_output(parser, given->output);
  return [given] {
    given->options.columns = chart_columns();
    print_answer(answer_for(given->file,
                            [&](const Tape& tape) { return find_overview(tape, given->options); }),
                 given->output);
    return kOk;
  };
}

}  // namespace

const Verb kReport = {
    "report", "the first look: peak, categories, modules and a timeline",
    R"(  tidemark report run.tape
  tidemark report run.tape --step 2          without the set-up and the first step
  tidemark report run.tape --depth 0         down to the smallest module)",
    &prepare};

}  // namespace tidemark::cli
