// Several ranks in words: the worst, a row of each, and what differs.
#include "tidemark/engine/answers/ranks.h"
#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/layout.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

// Jobs have thousands of ranks: those at both ends tell.
constexpr std::size_t kMostRanks = 16;

void add_headline(Page& page, const RanksAnswer& answer) {
  const RankPeak& worst = answer.ranks[static_cast<std::size_t>(answer.worst)];
  page.paragraph("Rank " + std::to_string(worst.rank) + " has the highest peak: " +
                     page.bytes(worst.allocated_bytes) + " of " + printable(worst.device) + ", " +
                     moment_words(worst.at, page.width()) + " (" + printable(worst.name) + ").",
                 0, 0, Ink::Bold);
}

void add_ranks(Page& page, const RanksAnswer& answer) {
  page.heading("Peaks of the " + counted(static_cast<std::int64_t>(answer.ranks.size()), "rank"));
  Table table({{"rank", Align::Right},
               {"peak", Align::Right},
               {"below the worst", Align::Right},
               {"at step"},
               {"device"},
               {"file"}});
  const std::int64_t highest = answer.ranks[static_cast<std::size_t>(answer.worst)].allocated_bytes;
  std::size_t shown = 0;
  for (const RankPeak& rank : answer.ranks) {
    if (++shown > kMostRanks) break;
    table.add({std::to_string(rank.rank), page.bytes(rank.allocated_bytes),
               page.bytes(highest - rank.allocated_bytes), stage_words(rank.at.step, rank.at.phase),
               rank.device, rank.name});
  }
  if (answer.ranks.size() > kMostRanks) table.add_omission(answer.ranks.size() - kMostRanks);
  table.draw(page);
}

void add_spreads(Page& page, const std::string& what, const std::vector<Spread>& spreads) {
  if (spreads.empty()) return;
  page.heading("What differs at the peaks, by " + what);
  Table table({{what},
               {"least", Align::Right},
               {"of rank", Align::Right},
               {"most", Align::Right},
               {"of rank", Align::Right}});
  for (const Spread& one : spreads)
    table.add({one.name, page.bytes(one.least), std::to_string(one.least_rank),
               page.bytes(one.most), std::to_string(one.most_rank)});
  table.draw(page);
}

}  // namespace

std::string text_report(const RanksAnswer& answer, const TextStyle& style) {
  Page page(style);
  if (answer.worst < 0) {
    page.line("There are no ranks.");
    return page.take();
  }
  add_headline(page, answer);
  add_ranks(page, answer);
  if (answer.categories.empty() && answer.scopes.empty() && answer.ops.empty())
    page.paragraph("All ranks hold the same at their peaks.");
  add_spreads(page, "category", answer.categories);
  add_spreads(page, "module", answer.scopes);
  add_spreads(page, "operator", answer.ops);
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
