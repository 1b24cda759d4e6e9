// `tidemark verify`: is the tape sound?
#include "tidemark/engine/replay/verify.h"

#include "tidemark/cli/input.h"
#include "tidemark/cli/print.h"
#include "tidemark/cli/verbs/catalogue.h"

namespace tidemark::cli {
namespace {

// What the reader could not do right counts as much as what the events do wrong.
Diagnostics find_violations(const Tape& tape) {
  Diagnostics found = tape.diagnostics();
  found.add(verify(tape));
  return found;
}

Action prepare_verify(CLI::App& parser) {
  struct Given {
    Input input;
    Output output;
  };
  auto given = std::make_shared<Given>();
  add_input(parser, given->input);
  add_json(parser, given->output);
  return [given] {
    const Diagnostics found = answer_for(given->input, find_violations);
    print_answer(found, given->output);
    return found.problems().empty() ? kOk : kFound;
  };
}

}  // namespace

const Verb kVerify = {"verify", "checks every rule of a tape and names what breaks one",
                      R"(  tidemark verify run.tape
  tidemark verify run.tape --json
  tidemark verify run.tape && echo sound     exit code 1 when a rule is broken)",
                      &prepare_verify};

}  // namespace tidemark::cli
