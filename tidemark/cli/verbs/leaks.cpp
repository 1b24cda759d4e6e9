// `tidemark leaks`: what grows from step to step.
#include "tidemark/engine/analyses/leaks.h"
#include "tidemark/cli/question.h"
#include "tidemark/cli/verbs/catalogue.h"

namespace tidemark::cli {
namespace {

Action prepare_leaks(CLI::App& parser) {
  auto asked = ask<LeaksOptions>();
  add_input(parser, asked->input);
  add_device(parser, asked->options.device);
  add_top(parser, asked->options.top, "of the places that leak most");
  add_output(parser, asked->output);
  return answering(asked, &find_leaks);
}

}  // namespace

const Verb kLeaks = {
    "leaks", "what grows from step to step and never dies",
    R"(  tidemark leaks run.tape                    needs at least three finished steps
  tidemark leaks run.tape --device cuda:0 --top 5)",
    &prepare_leaks};

}  // namespace tidemark::cli
