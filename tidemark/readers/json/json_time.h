// Microseconds as text, as integer nanoseconds: no digit is lost to a floating-point number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark {

// None for what is no number, or passes 63 bits. Digits past the third decimal are cut.
std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds);

}  // namespace tidemark
