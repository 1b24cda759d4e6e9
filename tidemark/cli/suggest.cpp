// Counts edits between words.
#include "tidemark/cli/suggest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tidemark::cli {
namespace {

// Longer words are no typing mistakes, and would only cost time.
constexpr std::size_t kLongestTypo = 24;

// Insertions, deletions and replacements; the row before is all that the next one needs.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.size() > kLongestTypo) return {};
  std::string best;
  std::size_t fewest = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const bool begins = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t edits = begins ? 0 : edits_between(word, candidate);
    if (edits >= fewest || edits >= candidate.size()) continue;
    fewest = edits;
    best = candidate;
  }
  return best;
}

}  // namespace tidemark::cli
