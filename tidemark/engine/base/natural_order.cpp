// Natural order, without ever turning digits into an integer that could overflow.
#include "tidemark/engine/base/natural_order.h"

#include <algorithm>

namespace tidemark {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Cuts the next run of digits, or one other character, from the front.
std::string_view take_part(std::string_view& text) {
  std::size_t length = 1;
  if (is_digit(text.front()))
    length = std::find_if_not(text.begin(), text.end(), is_digit) - text.begin();
  std::string_view part = text.substr(0, length);
  text.remove_prefix(length);
  return part;
}

std::string_view without_zeros(std::string_view digits) {
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  return digits.substr(first);
}

int compare_parts(std::string_view a, std::string_view b) {
  if (is_digit(a.front()) && is_digit(b.front())) {
    a = without_zeros(a);
    b = without_zeros(b);
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  }
  return a.compare(b);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty())
    if (int order = compare_parts(take_part(a), take_part(b))) return order < 0;
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // "a01" and "a1": any fixed order will do
}

}  // namespace tidemark
