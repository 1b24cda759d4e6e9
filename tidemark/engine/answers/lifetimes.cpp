// The words for spans of lives.
#include "tidemark/engine/answers/lifetimes.h"

#include <array>

namespace tidemark {
namespace {

constexpr std::array<std::string_view, kLifeSpanCount> kSpanNames = {"within-phase", "within-step",
                                                                     "across-steps", "to-the-end"};

}  // namespace

std::string_view name_of(LifeSpan span) { return kSpanNames[static_cast<std::size_t>(span)]; }

}  // namespace tidemark
