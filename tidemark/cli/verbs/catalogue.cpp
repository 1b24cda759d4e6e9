// The table of verbs, and the search in it.
#include "tidemark/cli/verbs/catalogue.h"

#include <algorithm>
#include <array>

namespace tidemark::cli {
namespace {

#define TIDEMARK_POINT_AT_VERB(verb) &verb,
constexpr std::array kCatalogue = {TIDEMARK_VERBS(TIDEMARK_POINT_AT_VERB)};
#undef TIDEMARK_POINT_AT_VERB

}  // namespace

std::span<const Verb* const> catalogue() { return kCatalogue; }

const Verb* find_verb(std::string_view name) {
  const auto verb = std::find_if(kCatalogue.begin(), kCatalogue.end(),
                                 [&](const Verb* v) { return v->name == name; });
  return verb == kCatalogue.end() ? nullptr : *verb;
}

}  // namespace tidemark::cli
