// `tidemark scopes`: memory module by module.
#include <CLI/CLI.hpp>

#include "input.h"
#include "print.h"
#include "tidemark/analyses/scopes.h"
#include "verbs/catalogue.h"

namespace tidemark::cli {
namespace {

Action prepare(CLI::App& parser) {
  struct Given {
    std::string file;
    ScopesOptions options;
    Output output;
  };
  auto given = std::make_shared<Given>();
  add_file(parser, given->file);
  add_selection(parser, given->options);
  add_depth(parser, given->options.depth);
  parser.add_flag("--calls", given->options.per_call, "also each single call of a module");
  add_output(parser, given->output);
  return [given] {
    print_answer(answer_for(given->file,
                            [&](const Tape& tape) { return find_scopes(tape, given->options); }),
                 given->output);
    return kOk;
  };
}

}  // namespace

const Verb kScopes = {
    "scopes", "module by module: bytes before, after, and the peak inside",
    R"(  tidemark scopes run.tape --depth 2         the outer modules only
  tidemark scopes run.tape --step 2          as they are in the second step
  tidemark scopes run.tape --calls           each call by itself)",
    &prepare};

}  // namespace tidemark::cli
