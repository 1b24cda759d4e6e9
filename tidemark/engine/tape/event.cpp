// Names of event kinds: the words of the text form.
#include "tidemark/engine/tape/event.h"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

constexpr std::array<std::string_view, kKindCount> kNames = {
    "alloc", "free", "resize", "relabel", "begin",  "end", "call",  "return",
    "phase", "step", "mark",   "input",   "output", "map", "unmap", "block"};

}  // namespace

std::string_view name_of(Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<Kind> kind_named(std::string_view name) {
  auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Kind>(found - kNames.begin());
}

}  // namespace tidemark
