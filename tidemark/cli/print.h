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

// `tape` is the file that the text may name in what to ask next.
template <class Answer>
void print_answer(const Answer& answer, const Output& output, const std::string& tape = {}) {
  if (output.json) return print(json_report(answer));
  TextStyle style = style_of_stdout(output.units);
  style.detail = output.detail;
  style.rows = output.rows;
  style.tape = tape;
  print(text_report(answer, style));
}

}  // namespace tidemark::cli
