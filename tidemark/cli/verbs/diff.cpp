// `tidemark diff`: two tapes side by side.
#include <CLI/CLI.hpp>

#include "tidemark/cli/input.h"
#include "tidemark/cli/print.h"
#include "tidemark/cli/verbs/catalogue.h"
#include "tidemark/engine/analyses/diff.h"

namespace tidemark::cli {
namespace {

Action prepare_diff(CLI::App& parser) {
  struct Given {
    Input before, after;
    DiffOptions options;
    Output output;
  };
  auto given = std::make_shared<Given>();
  parser.add_option("BEFORE", given->before.file, "the tape to compare with")
      ->required()
      ->type_name("");
  parser.add_option("AFTER", given->after.file, "the tape to look at")->required()->type_name("");
  parser
      .add_option_function<std::vector<std::string>>(
          "--with",
          [given = given.get()](const std::vector<std::string>& both) {
            given->before.companion = both.front();
            given->after.companion = both.back();
          },
          "execution traces of the same runs, for two traces of the profiler")
      ->expected(2)
      ->type_name("FILE");
  add_selection(parser, given->options);
  add_top(parser, given->options.top, "modules and operators");
  add_output(parser, given->output);
  return [given] {
    const Tape before = open_input(given->before), after = open_input(given->after);
    const DiffAnswer answer = naming(given->before.file + ", " + given->after.file,
                                     [&] { return find_diff(before, after, given->options); });
    print_answer(answer, given->output);
    return answer.same ? kOk : kFound;
  };
}

}  // namespace

const Verb kDiff = {"diff", "two tapes: what grew, by category, module and operator",
                    R"(  tidemark diff before.tape after.tape
  tidemark diff before.tape after.tape --step 2
  tidemark diff a.json b.json --with a_et.json b_et.json
  tidemark diff a.tape b.tape --json > diff.json || echo "they differ")",
                    &prepare_diff};

}  // namespace tidemark::cli
