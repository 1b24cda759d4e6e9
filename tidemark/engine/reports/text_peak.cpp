// The peak in words: how much and when, what it was made of, and the largest storages.
#include <algorithm>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/bars.h"
#include "tidemark/engine/reports/layout.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

constexpr std::size_t kBriefDevices = 1;

void add_largest(Page& page, const DevicePeak& peak) {
  Table table({{"id"}, {"bytes", Align::Right}, {"category"}, {"born in step"}, {"where"}});
  for (const StorageFact& fact : peak.largest)
    table.add({storage_name(fact.storage), page.bytes(fact.allocated_bytes),
               std::string(name_of(fact.category)), stage_words(fact.born.step, fact.born.phase),
               place_words(fact.born.scope, fact.born.op, fact.born.source)});
  table.draw(page);
}

// The tree of modules alone: no call of theirs is known here.
ScopesAnswer scopes_named_by(const DevicePeak& peak) {
  ScopesAnswer scopes;
  for (const ScopeShare& share : peak.modules)
    if (!share.scope.empty()) scopes.scopes.push_back({.path = share.scope});
  return scopes;
}

// Whether sites say more than the list of storages one by one.
bool has_groups(const DevicePeak& peak) {
  return std::any_of(peak.sites.begin(), peak.sites.end(),
                     [](const SiteShare& site) { return site.count > 1 || !site.shape.empty(); });
}

void add_allocator(Page& page, const AllocatorPeak& held, std::size_t indent) {
  page.paragraph("the allocator then: " + page.bytes(held.allocated_bytes) + " allocated, " +
                     page.bytes(held.active_bytes) + " active, " + page.bytes(held.reserved_bytes) +
                     " reserved, " + page.bytes(held.fragmented_bytes) + " fragmented",
                 indent);
  page.paragraph("reserved at most " + page.bytes(held.reserved_peak_bytes) + " " +
                     moment_words(held.reserved_at, page.width() - indent),
                 indent);
}

void add_headline(Page& page, const DevicePeak& peak, bool is_brief) {
  const std::string device = elided(printable(peak.device), page.width() / 2);
  const std::string headline = device + "  peak " + page.bytes(peak.allocated_bytes);
  const std::size_t indent = display_width(device) + 2;
  const std::string moment = moment_words(peak.at, page.width() - indent);
  const bool fits = display_width(headline) + 2 + display_width(moment) <= page.width();
  page.line({{headline, Ink::Bold}, {fits ? "  " + moment : ""}});
  if (!fits) page.paragraph(moment, indent);
  if (is_brief) return;
  std::string facts = page.bytes(peak.requested_bytes) + " requested, " +
                      counted(peak.alive_count, "storage") + " alive";
  if (peak.at.event >= 0)
    facts +=
        ", event " + format_count(peak.at.event) + ", time " + format_duration(peak.at.time_ns);
  page.paragraph(facts, indent, 0, Ink::Dim);
  if (peak.allocator) add_allocator(page, *peak.allocator, indent);
}

}  // namespace

void add_peak_headlines(Page& page, const PeakAnswer& answer, bool is_brief) {
  if (answer.devices.empty()) page.line("No memory was allocated.");
  const std::size_t count = answer.devices.size();
  const std::size_t shown = is_brief ? std::min(count, kBriefDevices) : count;
  for (std::size_t d = 0; d < shown; ++d) add_headline(page, answer.devices[d], is_brief);
  if (shown < count)
    page.line("… " + counted(static_cast<std::int64_t>(count - shown), "more device"), Ink::Dim);
}

void add_categories(Page& page, const DevicePeak& peak, const std::string& suffix,
                    std::size_t most) {
  page.heading("What the peak" + suffix + " is made of");
  draw_bars(page, peak.categories, peak.allocated_bytes, most);
}

void add_lines(Page& page, const DevicePeak& peak, const std::string& suffix, std::size_t most) {
  const bool any = std::any_of(peak.lines.begin(), peak.lines.end(),
                               [](const LineShare& line) { return !line.source.empty(); });
  if (!any) return;
  page.heading("Source lines that own most" + suffix);
  Table table({{"bytes", Align::Right},
               {"share", Align::Right},
               {"storages", Align::Right},
               {"mostly"},
               {"line"}},
              TableHead::None);
  for (std::size_t i = 0; i < std::min(most, peak.lines.size()); ++i) {
    const LineShare& line = peak.lines[i];
    table.add({page.bytes(line.allocated_bytes),
               percent_of(line.allocated_bytes, peak.allocated_bytes),
               counted(line.count, "storage"), largest_part(line.categories, line.allocated_bytes),
               line.source.empty() ? "(no line known)" : line.source});
  }
  table.draw(page);
}

void add_sites(Page& page, const DevicePeak& peak, const std::string& suffix, std::size_t most) {
  if (peak.sites.empty()) return;
  page.heading((peak.alive_count == 1 ? "The one storage"
                                      : "Largest of the " + counted(peak.alive_count, "storage")) +
               " alive then" + suffix);
  const bool has_shapes = std::any_of(peak.sites.begin(), peak.sites.end(),
                                      [](const SiteShare& site) { return !site.shape.empty(); });
  std::vector<TableColumn> columns = {{"storages", Align::Right}, {"category"}};
  if (has_shapes) columns.push_back({"shape"});
  columns.push_back({"where"});
  Table table(std::move(columns), TableHead::None);
  for (std::size_t i = 0; i < std::min(most, peak.sites.size()); ++i) {
    const SiteShare& site = peak.sites[i];
    const std::string each = page.bytes(site.each_bytes);
    std::vector<std::string> cells = {
        site.count == 1 ? each : format_count(site.count) + " × " + each,
        std::string(name_of(site.category))};
    if (has_shapes) cells.push_back(site.shape.empty() ? "-" : site.shape);
    cells.push_back(place_words(site.source.empty() ? site.scope : "", site.op, site.source));
    table.add(std::move(cells));
  }
  table.draw(page);
}

std::string text_report(const PeakAnswer& answer, const TextStyle& style) {
  Page page(style);
  add_peak_headlines(page, answer);
  page.line(counted(answer.steps, "step") + ", " + counted(answer.events, "event"), Ink::Dim);
  for (const DevicePeak& peak : answer.devices) {
    const std::string suffix = of_device(peak.device, answer.devices.size());
    add_categories(page, peak, suffix);
    add_gathered(page, peak, suffix);
    add_lines(page, peak, suffix, peak.lines.size());
    add_module_tree(page, scopes_named_by(peak), peak, suffix, style.detail);
    if (has_groups(peak)) add_sites(page, peak, suffix, peak.sites.size());
    if (peak.largest.empty()) continue;
    page.heading("Largest storages" + suffix + ", one by one");
    add_largest(page, peak);
  }
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
