// What an observer of a replay asks for; nothing else is read or followed.
#pragma once

#include "tidemark/engine/tape/columns.h"

namespace tidemark {

struct Needs {
  ColumnSet columns;    // besides those of the ledger
  bool live = false;    // the live set
  bool scopes = false;  // the calls of scopes

  constexpr Needs operator|(const Needs& other) const {
    return {columns | other.columns, live || other.live, scopes || other.scopes};
  }
};

// What the ledger reads, and with it every replay.
inline constexpr ColumnSet kLedgerColumns = {.time_ns = true,
                                             .bytes = true,
                                             .subject = true,
                                             .kind = true,
                                             .category = true,
                                             .device = true};
// Where and when something is born, as the live set keeps it.
inline constexpr ColumnSet kPlaceColumns = {
    .scope = true, .stack = true, .call = true, .phase = true};
inline constexpr ColumnSet kScopeColumns = {.scope = true, .phase = true};

}  // namespace tidemark
