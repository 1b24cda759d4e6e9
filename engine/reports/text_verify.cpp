// What is wrong with a tape, in words.
#include "tidemark/reports/text_parts.h"

namespace tidemark {

std::string text_report(const Diagnostics& diagnostics, const TextStyle& style) {
  Page page(style);
  if (diagnostics.empty()) {
    page.line("No problems were found.");
    return page.take();
  }
  const auto kinds = static_cast<std::int64_t>(diagnostics.all().size());
  page.line(counted(kinds, "kind") + " of problems", Ink::Bold);
  add_diagnostics(page, diagnostics);
  return page.take();
}

}  // namespace tidemark
