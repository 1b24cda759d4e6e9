// Answers to standard output, as text or JSON.
#pragma once

#include <string_view>

#include "tidemark/cli/options.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/text.h"

namespace tidemark::cli {

// Throws Error when the text cannot be written; a reader that has gone away is no error.
void print(std::string_view text);

template <class Answer>
void print_answer(const Answer& answer, const Output& output) {
  print(output.json ? json_report(answer) : text_report(answer, style_of_stdout(output.units)));
}

}  // namespace tidemark::cli
