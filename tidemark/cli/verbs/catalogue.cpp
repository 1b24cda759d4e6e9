// The list of verbs.
#include "tidemark/cli/verbs/catalogue.h"

#include <algorithm>
#include <array>

namespace tidemark::cli {
namespace {

constexpr std::array kCatalogue = {
    &kEstimate,   // before there is a GPU
    &kRecord,     // in the running program
    &kReport,     // the first look
    &kPeak,       // the highest moment
    &kScopes,     // module by module
    &kTimeline,   // over the run
    &kLifetimes,  // who lives how long
    &kLeaks,      // what never dies
    &kDiff,       // two runs
    &kConvert,    // text and binary
    &kVerify,     // is the tape sound
};

}  // namespace

std::span<const Verb* const> catalogue() { return kCatalogue; }

const Verb* find_verb(std::string_view name) {
  const auto verb = std::find_if(kCatalogue.begin(), kCatalogue.end(),
                                 [&](const Verb* v) { return v->name == name; });
  return verb == kCatalogue.end() ? nullptr : *verb;
}

}  // namespace tidemark::cli
