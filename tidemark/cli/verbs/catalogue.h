// The list of the command's verbs, a line each; each is defined in the file of its name.
#pragma once

#include <span>
#include <string_view>

#include "tidemark/cli/verb.h"

// X(kVerb) in the order of the help.
#define TIDEMARK_VERBS(X)                     \
  X(kEstimate)  /* before there is a GPU */   \
  X(kRecord)    /* in the running program */  \
  X(kCalibrate) /* on a GPU, for estimates */ \
  X(kReport)    /* the first look */          \
  X(kPeak)      /* the highest moment */      \
  X(kScopes)    /* module by module */        \
  X(kTimeline)  /* over the run */            \
  X(kLifetimes) /* who lives how long */      \
  X(kLeaks)     /* what never dies */         \
  X(kAlloc)     /* the allocator's share */   \
  X(kDiff)      /* two runs */                \
  X(kConvert)   /* text and binary */         \
  X(kVerify)    /* is the tape sound */

namespace tidemark::cli {

#define TIDEMARK_DECLARE_VERB(verb) extern const Verb verb;
TIDEMARK_VERBS(TIDEMARK_DECLARE_VERB)
#undef TIDEMARK_DECLARE_VERB

// All of them.
std::span<const Verb* const> catalogue();
// Null for a word that is no verb.
const Verb* find_verb(std::string_view name);

}  // namespace tidemark::cli
