// Two tapes in words: before, after and change, by category, module and operator.
#include "tidemark/engine/answers/diff.h"
#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/layout.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

std::int64_t change_of(const Difference& d) { return subtract_saturating(d.after, d.before); }

// "+8.4%"; nothing where there was nothing before.
std::string relative_change(const Difference& d) {
  if (d.before <= 0 || d.after == d.before) return {};
  const bool is_more = d.after > d.before;
  const std::int64_t distance =
      is_more ? subtract_saturating(d.after, d.before) : subtract_saturating(d.before, d.after);
  return (is_more ? ", +" : ", -") + percent_of(distance, d.before);
}

void add_headline(Page& page, const DeviceDiff& device) {
  const std::string name = elided(printable(device.device), page.width() / 2);
  const std::string levels = page.bytes(device.peak.before) + " → " + page.bytes(device.peak.after);
  const std::string change =
      "(" + page.change(change_of(device.peak)) + relative_change(device.peak) + ")";
  const std::string headline = name + "  peak " + levels;
  if (display_width(headline) + 2 + display_width(change) <= page.width()) {
    page.line({{headline, Ink::Bold}, {"  " + change}});
    return;
  }
  page.paragraph(headline, 0, 2, Ink::Bold);
  page.paragraph(change, 2);
}

void add_differences(Page& page, const std::string& title, const std::string& what,
                     const std::vector<Difference>& differences) {
  if (differences.empty()) return;
  page.heading(title);
  Table table(
      {{what}, {"before", Align::Right}, {"after", Align::Right}, {"change", Align::Right}});
  for (const Difference& d : differences)
    table.add({d.name.empty() ? "(no name)" : d.name, page.bytes(d.before), page.bytes(d.after),
               page.change(change_of(d))});
  table.draw(page);
}

}  // namespace

std::string text_report(const DiffAnswer& answer, const TextStyle& style) {
  Page page(style);
  if (answer.devices.empty()) page.line("Neither tape allocates memory.");
  else if (answer.same) page.line("Both tapes use the same memory.");
  for (const DeviceDiff& device : answer.devices) {
    const std::string suffix = of_device(device.device, answer.devices.size());
    page.gap();
    add_headline(page, device);
    add_differences(page, "What the peaks" + suffix + " are made of", "category",
                    device.categories);
    add_differences(page, "Peak inside modules" + suffix, "module", device.scopes);
    add_differences(page, "Alive at the peak" + suffix + ", by operator", "operator", device.ops);
  }
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
