// Which modules' parameters were gathered from the ranks at a peak, and on their way.
#include <algorithm>

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

std::string bytes_or_none(const Page& page, std::int64_t bytes) {
  return bytes > 0 ? page.bytes(bytes) : "-";
}

}  // namespace

void add_gathered(Page& page, const DevicePeak& peak, const std::string& suffix, std::size_t most) {
  std::vector<ScopeShare> units;
  for (const ScopeShare& share : peak.owners)
    if (gathered_bytes(share) > 0) units.push_back(share);
  if (units.empty()) return;
  std::stable_sort(units.begin(), units.end(), [](const ScopeShare& a, const ScopeShare& b) {
    return gathered_bytes(a) > gathered_bytes(b);
  });
  page.heading("Gathered from all ranks then" + suffix + ": " +
               counted(static_cast<std::int64_t>(units.size()), "module"));
  Table table({{"module"}, {"parameters", Align::Right}, {"on the way", Align::Right}},
              TableHead::Titles);
  for (std::size_t u = 0; u < std::min(most, units.size()); ++u)
    table.add({units[u].scope.empty() ? "(outside of modules)" : units[u].scope,
               bytes_or_none(page, of(units[u], Category::UnshardedParameter)),
               bytes_or_none(page, of(units[u], Category::AllGather))});
  if (units.size() > most) table.add_omission(units.size() - most);
  table.draw(page);
}

}  // namespace tidemark
