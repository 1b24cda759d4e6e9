// How the cost of some work grows with its size, as far as a test may ask for it.
#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace tidemark::test {

// CPU time of work(8 * n) over that of work(n), the best of three each: about 8 where the cost is
// linear, 64 where it is quadratic. Other processes do not count, so tests may draw a line between.
template <class Work>
double growth_by_eight(int n, Work work) {
  const auto best = [&](int size) {
    std::clock_t least = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < 3; ++i) {
      const std::clock_t begin = std::clock();
      work(size);
      least = std::min(least, std::clock() - begin);
    }
    return static_cast<double>(std::max<std::clock_t>(least, 1));
  };
  const double small = best(n);
  return best(8 * n) / small;
}

inline constexpr double kBetweenLinearAndQuadratic = 25;

}  // namespace tidemark::test
