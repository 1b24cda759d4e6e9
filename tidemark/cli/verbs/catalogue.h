// Every verb of the command, each defined in the file of its name.
#pragma once

#include <span>
#include <string_view>

#include "tidemark/cli/verb.h"

namespace tidemark::cli {

extern const Verb kEstimate, kRecord, kReport, kPeak, kScopes, kTimeline, kLifetimes, kLeaks, kDiff,
    kConvert, kVerify;

// In the order of the help.
std::span<const Verb* const> catalogue();
// Null for a word that is no verb.
const Verb* find_verb(std::string_view name);

}  // namespace tidemark::cli
