// `tidemark lifetimes`: who lives how long.
#include "input.h"
#include "print.h"
#include "tidemark/analyses/lifetimes.h"
#include "verbs/catalogue.h"

namespace tidemark::cli {
namespace {

Action prepare(CLI::App& parser) {
  struct Given {
    std::string file;
    LifetimesOptions options;
    Output output;
  };
  auto given = std::make_shared<Given>();
  add_file(parser, given->file);
  add_selection(parser, given->options);
  add_top(parser, given->options.top, "of the heaviest storages");
  add_output(parser, given->output);
  return [given] {
    print_answer(answer_for(given->file,
                            [&](const Tape& tape) { return find_lifetimes(tape, given->options); }),
                 given->output);
    return kOk;
  };
}

}  // namespace

const Verb kLifetimes = {
    "lifetimes", "who lives how long, born and dead where",
    R"(  tidemark lifetimes run.tape
  tidemark lifetimes run.tape --step 2       what is born in the second step
  tidemark lifetimes run.tape --top 50)",
    &prepare};

}  // namespace tidemark::cli
