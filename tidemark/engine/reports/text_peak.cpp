// The peak in words: how much and when, what it was made of, and the largest storages.
#include <algorithm>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/bars.h"
#include "tidemark/engine/reports/layout.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

void add_largest(Page& page, const DevicePeak& peak) {
  Table table({{"id"}, {"bytes", Align::Right}, {"category"}, {"born in step"}, {"where"}});
  for (const StorageFact& fact : peak.largest)
    table.add({storage_name(fact.storage), page.bytes(fact.allocated_bytes),
               std::string(name_of(fact.category)), stage_words(fact.born.step, fact.born.phase),
               place_words(fact.born.scope, fact.born.op, fact.born.source)});
  table.draw(page);
}

// As many as storages are listed; nothing where no module is known.
void add_owners(Page& page, const DevicePeak& peak, const std::string& suffix) {
  const bool any = std::any_of(peak.owners.begin(), peak.owners.end(),
                               [](const ScopeShare& share) { return !share.scope.empty(); });
  if (!any || peak.largest.empty()) return;
  page.heading("Who owns the peak" + suffix);
  Table table({{"module"}, {"bytes", Align::Right}, {"share", Align::Right}, {"mostly"}});
  const std::size_t count = std::min(peak.owners.size(), peak.largest.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ScopeShare& share = peak.owners[i];
    table.add({share.scope.empty() ? "(outside of modules)" : share.scope,
               page.bytes(share.allocated_bytes),
               percent_of(share.allocated_bytes, peak.allocated_bytes),
               largest_part(share.categories, share.allocated_bytes)});
  }
  table.draw(page);
}

void add_headline(Page& page, const DevicePeak& peak) {
  const std::string device = elided(printable(peak.device), page.width() / 2);
  const std::string headline = device + "  peak " + page.bytes(peak.allocated_bytes);
  const std::size_t indent = display_width(device) + 2;
  const std::string moment = moment_words(peak.at, page.width() - indent);
  const bool fits = display_width(headline) + 2 + display_width(moment) <= page.width();
  page.line({{headline, Ink::Bold}, {fits ? "  " + moment : ""}});
  if (!fits) page.paragraph(moment, indent);
  std::string facts = page.bytes(peak.requested_bytes) + " requested, " +
                      counted(peak.alive_count, "storage") + " alive";
  if (peak.at.event >= 0)
    facts += ", event " + format_count(peak.at.event) + ", time " +
             format_duration(peak.at.time_ns);
  page.paragraph(facts, indent, 0, Ink::Dim);
}

}  // namespace

void add_peak_headlines(Page& page, const PeakAnswer& answer) {
  if (answer.devices.empty()) page.line("No memory was allocated.");
  for (const DevicePeak& peak : answer.devices) add_headline(page, peak);
}

void add_peak_details(Page& page, const PeakAnswer& answer) {
  for (const DevicePeak& peak : answer.devices) {
    const std::string suffix = of_device(peak.device, answer.devices.size());
    page.heading("What the peak" + suffix + " is made of");
    draw_bars(page, peak.categories, peak.allocated_bytes);
    if (peak.largest.empty()) continue;
    page.heading("Largest storages at the peak" + suffix);
    add_largest(page, peak);
  }
}

std::string text_report(const PeakAnswer& answer, const TextStyle& style) {
  Page page(style);
  add_peak_headlines(page, answer);
  page.line(counted(answer.steps, "step") + ", " + counted(answer.events, "event"), Ink::Dim);
  add_peak_details(page, answer);
  for (const DevicePeak& peak : answer.devices)
    add_owners(page, peak, of_device(peak.device, answer.devices.size()));
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
