// What is wrong with a tape, in words.
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {

std::string text_report(const Diagnostics& diagnostics, const TextStyle& style) {
  Page page(style);
  const Diagnostics problems = diagnostics.problems();
  const auto kinds = static_cast<std::int64_t>(problems.all().size());
  if (problems.empty()) page.line("No problems were found.");
  else
    page.line(counted(problems.problem_count(), "problem") + " of " + counted(kinds, "kind"),
              Ink::Bold);
  add_diagnostics(page, problems);
  add_notes(page, diagnostics.notes());
  return page.take();
}

}  // namespace tidemark
