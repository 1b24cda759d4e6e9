// Asks each tape for its peak, and keeps what is compared.
#include "tidemark/engine/analyses/ranks.h"

#include <algorithm>
#include <limits>

#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/analyses/run_facts.h"
#include "tidemark/engine/base/natural_order.h"
#include "tidemark/engine/base/saturating.h"

namespace tidemark {
namespace {

constexpr const char* kOutside = "(outside of modules)";

PeakOptions peak_options(const RanksOptions& options) {
  PeakOptions peak;
  static_cast<Selection&>(peak) = options;
  peak.top = std::numeric_limits<std::size_t>::max();
  return peak;
}

std::string named(const std::string& name, const char* otherwise) {
  return name.empty() ? otherwise : name;
}

std::int64_t width(const Spread& spread) { return subtract_saturating(spread.most, spread.least); }

}  // namespace

void RanksComparison::note(std::map<std::string, Bytes>& table, const std::string& name,
                           std::int64_t bytes) {
  Bytes& row = table[name];
  row.resize(ranks_.size());
  row.back() = add_saturating(row.back(), bytes);
}

void RanksComparison::add(const std::string& name, const Tape& tape) {
  const PeakAnswer peaks = find_peak(tape, peak_options(options_));
  const bool says_rank = tape.tables().meta().contains("run.rank");
  ranks_.push_back(
      {.name = name,
       .rank = says_rank ? find_run_facts(tape).rank : static_cast<std::int64_t>(ranks_.size())});
  for (const Diagnostic& d : peaks.diagnostics.all())
    diagnostics_.add(d.code, d.severity, name + ", " + d.where, d.message, d.count);
  if (peaks.devices.empty()) return;
  const DevicePeak& peak = peaks.devices.front();
  RankPeak& rank = ranks_.back();
  rank.device = peak.device;
  rank.allocated_bytes = peak.allocated_bytes;
  rank.at = peak.at;
  rank.categories = peak.categories;
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    if (peak.categories[c] != 0)
      note(categories_, std::string(name_of(static_cast<Category>(c))), peak.categories[c]);
  for (const ScopeShare& owner : peak.owners)
    note(scopes_, named(owner.scope, kOutside), owner.allocated_bytes);
  for (const StorageFact& storage : peak.largest)
    note(ops_, named(storage.born.op, kNoOperator), storage.allocated_bytes);
}

std::vector<Spread> RanksComparison::spreads(const std::map<std::string, Bytes>& table,
                                             std::size_t most) const {
  std::vector<Spread> found;
  for (const auto& [name, known] : table) {
    Bytes bytes = known;
    bytes.resize(ranks_.size());  // ranks that have none of it
    const auto [low, high] = std::minmax_element(bytes.begin(), bytes.end());
    if (*low == *high) continue;
    const auto rank_at = [&](auto at) {
      return ranks_[static_cast<std::size_t>(at - bytes.begin())].rank;
    };
    found.push_back({name, *low, *high, rank_at(low), rank_at(high)});
  }
  std::sort(found.begin(), found.end(), [](const Spread& a, const Spread& b) {
    return width(a) != width(b) ? width(a) > width(b) : natural_less(a.name, b.name);
  });
  if (found.size() > most) found.resize(most);
  return found;
}

RanksAnswer RanksComparison::answer() const {
  RanksAnswer answer{.ranks = ranks_,
                     .categories = spreads(categories_, kCategoryCount),
                     .scopes = spreads(scopes_, options_.top),
                     .ops = spreads(ops_, options_.top),
                     .diagnostics = diagnostics_};
  const auto worst = std::max_element(
      ranks_.begin(), ranks_.end(),
      [](const RankPeak& a, const RankPeak& b) { return a.allocated_bytes < b.allocated_bytes; });
  if (worst != ranks_.end()) answer.worst = worst - ranks_.begin();
  return answer;
}

}  // namespace tidemark
