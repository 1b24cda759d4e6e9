// What is wrong with a tape, in words.
#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {

std::string text_report(const Diagnostics& diagnostics, const TextStyle& style) {
  Page page(style);
  if (diagnostics.empty()) {
    page.line("No problems were found.");
    return page.take();
  }
  std::int64_t problems = 0;
  for (const Diagnostic& d : diagnostics.all()) problems = add_saturating(problems, d.count);
  const auto kinds = static_cast<std::int64_t>(diagnostics.all().size());
  page.line(counted(problems, "problem") + " of " + counted(kinds, "kind"), Ink::Bold);
  add_diagnostics(page, diagnostics);
  return page.take();
}

}  // namespace tidemark
