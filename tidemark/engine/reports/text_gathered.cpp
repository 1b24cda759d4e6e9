// Which modules' parameters were gathered from the ranks at a peak, and on their way.
#include <algorithm>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/layout.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

std::int64_t of(const ScopeShare& share, Category category) {
  return share.categories[static_cast<std::size_t>(category)];
}

std::int64_t gathered_bytes(const ScopeShare& share) {
  return of(share, Category::UnshardedParameter) + of(share, Category::AllGather);
}

// The largest first.
std::vector<ScopeShare> gathered_units(const DevicePeak& peak) {
  std::vector<ScopeShare> units;
  for (const ScopeShare& share : peak.owners)
    if (gathered_bytes(share) > 0) units.push_back(share);
  std::stable_sort(units.begin(), units.end(), [](const ScopeShare& a, const ScopeShare& b) {
    return gathered_bytes(a) > gathered_bytes(b);
  });
  return units;
}

std::string unit_name(const ScopeShare& unit) {
  return unit.scope.empty() ? "(outside of modules)" : printable(unit.scope);
}

std::string bytes_or_none(const Page& page, std::int64_t bytes) {
  return bytes > 0 ? page.bytes(bytes) : "-";
}

}  // namespace

bool has_gathered(const DevicePeak& peak) {
  return std::any_of(peak.owners.begin(), peak.owners.end(),
                     [](const ScopeShare& share) { return gathered_bytes(share) > 0; });
}

void add_gathered_sentence(Page& page, const DevicePeak& peak, std::size_t most) {
  const std::vector<ScopeShare> units = gathered_units(peak);
  if (units.empty()) return;
  std::string words = "gathered from all ranks then:";
  for (std::size_t u = 0; u < std::min(most, units.size()); ++u)
    words += (u > 0 ? ", " : " ") + unit_name(units[u]) + " " +
             page.bytes(gathered_bytes(units[u])) +
             (of(units[u], Category::UnshardedParameter) > 0 ? "" : " on the way");
  if (units.size() > most)
    words += ", " + format_count(static_cast<std::int64_t>(units.size() - most)) + " more";
  page.paragraph(words, 2, 2);
}

void add_gathered(Page& page, const DevicePeak& peak, const std::string& suffix) {
  const std::vector<ScopeShare> units = gathered_units(peak);
  if (units.empty()) return;
  page.heading("Gathered from all ranks then" + suffix + ": " +
               counted(static_cast<std::int64_t>(units.size()), "module"));
  Table table({{"module"}, {"parameters", Align::Right}, {"on the way", Align::Right}},
              TableHead::Titles);
  for (const ScopeShare& unit : units)
    table.add({unit_name(unit), bytes_or_none(page, of(unit, Category::UnshardedParameter)),
               bytes_or_none(page, of(unit, Category::AllGather))});
  table.draw(page);
}

}  // namespace tidemark
