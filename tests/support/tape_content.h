// What a tape says, with every id turned into its name, so that two tapes can be compared.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/engine/tape/file_writer.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark::test {

// One event without ids. The views point into the tape it came from.
struct NamedRow {
  Kind kind = Kind::Mark;
  std::int64_t time_ns = 0, bytes = 0;
  std::uint32_t number = 0;  // of a storage or a segment
  std::string_view mark, device, scope, op, signature;
  bool has_device = false, has_scope = false, has_call = false;
  std::string stack;  // innermost first
  std::optional<std::int64_t> stream;
  Category category = Category::Unknown;
  Phase phase = Phase::Other;
  bool operator==(const NamedRow&) const = default;
};

std::ostream& operator<<(std::ostream& out, const NamedRow& row);

std::vector<NamedRow> rows_of(const Tape& tape);

// Empty when the tapes say the same; else a sentence about the first difference.
std::string first_difference(const Tape& a, const Tape& b);

// The tape as the bytes of a .tape file.
std::vector<std::byte> file_of(const Tape& tape, const Codec* codec = nullptr);

// Reads the bytes of a .tape file.
Tape tape_of(std::span<const std::byte> file, const Codec* codec = nullptr);

}  // namespace tidemark::test
