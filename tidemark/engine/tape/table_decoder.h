// Decodes the blocks of table rows in a .tape file, checking every id.
#pragma once

#include <cstddef>
#include <span>

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/tape/tables.h"

namespace tidemark {

// Throws Error(BadFormat) for rows that contradict themselves; parents always come first.
void decode_tables(std::span<const std::byte> raw, Tables& into);

Diagnostics decode_diagnostics(std::span<const std::byte> raw);

}  // namespace tidemark
