// `tidemark report`: the first look at a tape, a model or a trace, or at the ranks of a job.
#include <CLI/CLI.hpp>

#include <algorithm>

#include "tidemark/cli/question.h"
#include "tidemark/cli/several_inputs.h"
#include "tidemark/cli/verbs/catalogue.h"
#include "tidemark/engine/analyses/overview.h"
#include "tidemark/engine/analyses/ranks.h"

namespace tidemark::cli {
namespace {

// One tape at a time is in memory.
int compare_ranks(const std::vector<Input>& inputs, const Question<OverviewOptions>& asked) {
  RanksOptions options;
  static_cast<Selection&>(options) = asked.options;
  options.top = asked.options.top;
  RanksComparison ranks(options);
  for (const Input& input : inputs)
    answer_for(input, [&](const Tape& tape) { ranks.add(input.file, tape); });
  print_answer(ranks.answer(), asked.output);
  return kOk;
}

Action prepare_report(CLI::App& parser) {
  auto asked = ask<OverviewOptions>();
  auto more = std::make_shared<std::vector<std::string>>();
  add_inputs(parser, asked->input, *more);
  add_selection(parser, asked->options);
  // Who asks for modules wants to see what they are made of.
  add_depth(parser, asked->options.depth)->each([asked](const std::string&) {
    asked->output.detail = std::max(asked->output.detail, Detail::Modules);
  });
  // More than fit on a page, for who asks for them.
  add_top(parser, asked->options.top, "source lines and kinds of storages")
      ->each([asked](const std::string&) { asked->output.rows = SIZE_MAX; });
  add_full(parser, asked->output);
  add_output(parser, asked->output);
  return [asked, more] {
    const std::vector<Input> inputs = pair_up(asked->input, *more);
    if (inputs.size() > 1) return compare_ranks(inputs, *asked);
    asked->input = inputs.front();
    return answering(asked, &find_overview)();
  };
}

}  // namespace

const Verb kReport = {"report", "the first look: will it fit, what eats it, when, and where",
                      R"(  tidemark report run.tape
  tidemark report run.tape --step 2          the second step alone
  tidemark report run.tape --depth 0         down to the smallest module
  tidemark report model.pt2 --bind batch=32  an exported model, without running it
  tidemark report trace.json.gz --with et.json   a trace of PyTorch's profiler
  tidemark report rank*.json.gz              the ranks of a job: the worst, and what differs)",
                      &prepare_report};

}  // namespace tidemark::cli
