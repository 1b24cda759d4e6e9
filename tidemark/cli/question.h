// The usual verb: one file, one analysis, one answer printed.
#pragma once

#include <memory>

#include "tidemark/cli/input.h"
#include "tidemark/cli/print.h"
#include "tidemark/cli/verb.h"

namespace tidemark::cli {

// What the command line fills in; shared between the parser and the action that follows it.
template <class Options>
struct Question {
  Input input;
  Options options;
  Output output;
};

template <class Options>
std::shared_ptr<Question<Options>> ask() {
  return std::make_shared<Question<Options>>();
}

// Opens the file, asks `find`, prints what it says.
template <class Options, class Answer>
Action answering(std::shared_ptr<Question<Options>> asked,
                 Answer (*find)(const Tape&, const Options&)) {
  return [asked, find] {
    print_answer(
        answer_for(asked->input, [&](const Tape& tape) { return find(tape, asked->options); }),
        asked->output, asked->input.file);
    return kOk;
  };
}

}  // namespace tidemark::cli
