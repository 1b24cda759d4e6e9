// The first look: peaks, what they are made of, modules, timeline and notes on one page.
#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/layout.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

void add_run(Page& page, const Overview& answer) {
  std::string facts = counted(answer.steps, "step") + ", " + counted(answer.events, "event");
  for (const auto& [key, value] : answer.meta)
    facts += "; " + elided(printable(key), page.width()) + ": " +
             elided(printable(value), page.width());
  page.paragraph(facts, 0, 0, Ink::Dim);
}

}  // namespace

std::string text_report(const Overview& answer, const TextStyle& style) {
  Page page(style);
  add_peak_headlines(page, answer.peak);
  add_run(page, answer);
  add_peak_details(page, answer.peak);
  add_modules(page, answer.scopes);
  add_charts(page, answer.timeline);
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
