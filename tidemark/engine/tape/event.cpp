// Names of event kinds: the words of the text form.
#include "tidemark/engine/tape/event.h"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

constexpr std::array<std::string_view, kKindCount> kKindNames = {
    "alloc", "free",  "resize", "relabel", "begin", "end",   "call", "return",  "phase", "step",
    "mark",  "input", "output", "map",     "unmap", "block", "pool", "release", "empty"};

}  // namespace

std::string_view name_of(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<Kind> kind_named(std::string_view name) {
  auto found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<Kind>(found - kKindNames.begin());
}

}  // namespace tidemark
