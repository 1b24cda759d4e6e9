// Lives summed by category and span, and the heaviest of them.
#pragma once

#include <array>
#include <vector>

#include "tidemark/engine/answers/lifetimes.h"
#include "tidemark/engine/replay/live_set.h"

namespace tidemark {

// A life in ids: naming waits until somebody asks.
struct Life {
  LiveStorage storage;  // as it was at its largest
  Category last_category = Category::Unknown;
  LifeSpan span = LifeSpan::ToTheEnd;
  std::int64_t events = 0, time_ns = 0;
  Moment died_at;  // these two only where the span is not ToTheEnd
  Event died_of;
};

// Keeps the sums and at most `top` lives, however many are added: O(log top) each.
class LifeRanking {
 public:
  explicit LifeRanking(std::size_t top) : top_(top) {}

  void add(const Life& life);
  std::int64_t count() const { return count_; }
  // Most bytes first; groups without a life left out.
  std::vector<LifetimeGroup> groups() const;
  // Most bytes times events first.
  std::vector<Lifetime> heaviest(const Tables& tables) const;

 private:
  struct Ranked {
    double weight = 0;  // a double: the product may pass 63 bits
    Life life;
  };
  static bool is_heavier(const Ranked& a, const Ranked& b);
  void add_to_group(const Life& life, std::int64_t bytes);
  void rank(const Life& life, std::int64_t bytes);

  std::size_t top_;
  std::int64_t count_ = 0;
  // By category and span; mean_events holds the sum until it is asked for.
  std::array<LifetimeGroup, kCategoryCount * kLifeSpanCount> groups_{};
  std::vector<Ranked> heap_;  // the lightest on top
};

}  // namespace tidemark
