// `tidemark scopes`: memory module by module.
#include <CLI/CLI.hpp>

#include "tidemark/cli/question.h"
#include "tidemark/cli/verbs/catalogue.h"
#include "tidemark/engine/analyses/scopes.h"

namespace tidemark::cli {
namespace {

Action prepare_scopes(CLI::App& parser) {
  auto asked = ask<ScopesOptions>();
  add_input(parser, asked->input);
  add_selection(parser, asked->options);
  add_depth(parser, asked->options.depth);
  parser.add_flag("--calls", asked->options.per_call, "also each single call of a module");
  add_output(parser, asked->output);
  return answering(asked, &find_scopes);
}

}  // namespace

const Verb kScopes = {"scopes", "module by module: bytes before, after, and the peak inside",
                      R"(  tidemark scopes run.tape --depth 2         the outer modules only
  tidemark scopes run.tape --step 2          as they are in the second step
  tidemark scopes run.tape --calls           each call by itself)",
                      &prepare_scopes};

}  // namespace tidemark::cli
