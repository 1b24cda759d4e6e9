// `tidemark leaks`: what grows from step to step.
#include "input.h"
#include "print.h"
#include "tidemark/analyses/leaks.h"
#include "verbs/catalogue.h"

namespace tidemark::cli {
namespace {

Action prepare(CLI::App& parser) {
  struct Given {
    std::string file;
    LeaksOptions options;
    Output output;
  };
  auto given = std::make_shared<Given>();
  add_file(parser, given->file);
  add_device(parser, given->options.device);
  add_top(parser, given->options.top, "of the places that leak most");
  add_output(parser, given->output);
  return [given] {
    print_answer(answer_for(given->file,
                            [&](const Tape& tape) { return find_leaks(tape, given->options); }),
                 given->output);
    return kOk;
  };
}

}  // namespace

const Verb kLeaks = {
    "leaks", "what grows from step to step and never dies",
    R"(  tidemark leaks run.tape                    needs at least three finished steps
  tidemark leaks run.tape --device cuda:0 --top 5)",
    &prepare};

}  // namespace tidemark::cli
