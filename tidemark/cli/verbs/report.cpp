// `tidemark report`: the first look at a tape or an exported model.
#include "tidemark/cli/question.h"
#include "tidemark/engine/analyses/overview.h"
#include "tidemark/cli/verbs/catalogue.h"

namespace tidemark::cli {
namespace {

Action prepare(CLI::App& parser) {
  auto asked = ask<OverviewOptions>();
  asked->options.columns = chart_columns();
  add_file(parser, asked->file);
  add_bind(parser, asked->dimensions);
  add_selection(parser, asked->options);
  add_depth(parser, asked->options.depth);
  add_top(parser, asked->options.top, "of the largest storages");
  add_output(parser, asked->output);
  return answering(asked, &find_overview);
}

}  // namespace

const Verb kReport = {
    "report", "the first look: peak, categories, modules and a timeline",
    R"(  tidemark report run.tape
  tidemark report run.tape --step 2          without the set-up and the first step
  tidemark report run.tape --depth 0         down to the smallest module
  tidemark report model.pt2 --bind batch=32  an exported model, without running it)",
    &prepare};

}  // namespace tidemark::cli
