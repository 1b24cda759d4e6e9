// `tidemark lifetimes`: who lives how long.
#include "tidemark/engine/analyses/lifetimes.h"
#include "tidemark/cli/question.h"
#include "tidemark/cli/verbs/catalogue.h"

namespace tidemark::cli {
namespace {

Action prepare_lifetimes(CLI::App& parser) {
  auto asked = ask<LifetimesOptions>();
  add_input(parser, asked->input);
  add_selection(parser, asked->options);
  add_top(parser, asked->options.top, "of the heaviest storages");
  add_output(parser, asked->output);
  return answering(asked, &find_lifetimes);
}

}  // namespace

const Verb kLifetimes = {"lifetimes", "who lives how long, born and dead where",
                         R"(  tidemark lifetimes run.tape
  tidemark lifetimes run.tape --step 2       what is born in the second step
  tidemark lifetimes run.tape --top 50)",
                         &prepare_lifetimes};

}  // namespace tidemark::cli
