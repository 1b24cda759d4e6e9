// Sums by group, and a heap of the heaviest.
#include "tidemark/engine/analyses/life_ranking.h"

#include <algorithm>

#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/base/saturating.h"

namespace tidemark {

bool LifeRanking::is_heavier(const Ranked& a, const Ranked& b) {
  if (a.weight != b.weight) return a.weight > b.weight;
  return a.life.storage.born.at.event < b.life.storage.born.at.event;
}

void LifeRanking::add(const Life& life) {
  ++count_;
  const std::int64_t bytes = life.storage.state.charged;
  add_to_group(life, bytes);
  rank(life, bytes);
}

void LifeRanking::add_to_group(const Life& life, std::int64_t bytes) {
  LifetimeGroup& group = groups_[static_cast<std::size_t>(life.last_category) * kLifeSpanCount +
                                 static_cast<std::size_t>(life.span)];
  group.category = life.last_category;
  group.span = life.span;
  ++group.count;
  group.allocated_bytes = add_saturating(group.allocated_bytes, bytes);
  group.largest_bytes = std::max(group.largest_bytes, bytes);
  group.mean_events = add_saturating(group.mean_events, life.events);
}

void LifeRanking::rank(const Life& life, std::int64_t bytes) {
  const double weight = static_cast<double>(bytes) * static_cast<double>(life.events);
  if (top_ == 0 || (heap_.size() == top_ && weight < heap_.front().weight)) return;
  heap_.push_back({weight, life});
  std::push_heap(heap_.begin(), heap_.end(), is_heavier);
  if (heap_.size() <= top_) return;
  std::pop_heap(heap_.begin(), heap_.end(), is_heavier);
  heap_.pop_back();
}

std::vector<LifetimeGroup> LifeRanking::groups() const {
  std::vector<LifetimeGroup> groups;
  for (const LifetimeGroup& group : groups_) {
    if (group.count == 0) continue;
    groups.push_back(group);
    groups.back().mean_events /= group.count;
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.allocated_bytes > b.allocated_bytes;
  });
  return groups;
}

std::vector<Lifetime> LifeRanking::heaviest(const Tables& tables) const {
  std::vector<Ranked> ranked = heap_;
  std::sort(ranked.begin(), ranked.end(), is_heavier);
  std::vector<Lifetime> lifetimes;
  for (const auto& [weight, life] : ranked) {
    Lifetime& one = lifetimes.emplace_back();
    one.storage = describe(tables, life.storage);
    one.events = life.events;
    one.time_ns = life.time_ns;
    one.span = life.span;
    if (life.span != LifeSpan::ToTheEnd) one.died = describe(tables, life.died_at, life.died_of);
  }
  return lifetimes;
}

}  // namespace tidemark
