// Help that is made from the catalogue.
#include "tidemark/cli/help.h"

#include <fmt/format.h>

#include "tidemark/cli/verbs/catalogue.h"

namespace tidemark::cli {
namespace {

constexpr const char* kIntroduction =
    R"(tidemark tells where the memory of a training run goes.

Usage: tidemark estimate [FLAGS] SCRIPT [ARGS]
       tidemark VERB FILE [FLAGS]

SCRIPT is a PyTorch training script; it runs on virtual GPUs, without memory.
FILE is a tape: the recorded allocations of a run, binary (.tape) or text.
It may also be an exported model (.pt2) or a trace of PyTorch's profiler.

Verbs:
)";

constexpr const char* kSession = R"(
A session:
  tidemark estimate --save run.tape train.py  will it fit?
  tidemark report run.tape                    how much, when, and what it was
  tidemark scopes run.tape --depth 3          which module holds it
  tidemark peak run.tape --step 2 --top 20    the largest storages of one step
  tidemark diff before.tape after.tape        did the change help?
  tidemark peak run.tape --json | jq .        the same for a program

Flags:
  -h, --help     this help; tidemark VERB --help, or help VERB, teaches the verb
      --version  the version

Exit codes: 0 all is well, 1 does not fit, differences or violations found,
2 wrong usage or unreadable input.
)";

}  // namespace

std::string command_help() {
  std::string text = kIntroduction;
  for (const Verb* verb : catalogue())
    text += fmt::format("  {:<11}{}\n", verb->name, verb->summary);
  return text + kSession;
}

}  // namespace tidemark::cli
