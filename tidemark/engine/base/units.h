// Byte counts as people write and read them: "4KiB" in, "3.71 GiB" out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

enum class Units : std::uint8_t { Auto, B, KiB, MiB, GiB, TiB };

std::optional<Units> units_named(std::string_view name);

// Reads "4096", "4KiB", "1.5MiB". Empty for anything else, and for counts past 63 bits.
std::optional<std::int64_t> parse_bytes(std::string_view text);

// "3.71 GiB"; Auto picks the largest unit that leaves at least one whole. Bytes are exact.
std::string format_bytes(std::int64_t bytes, Units units = Units::Auto);

// "+1.20 MiB", "-3 B", "0 B": a change.
std::string format_change(std::int64_t bytes, Units units = Units::Auto);

// "12 345 678": digits in groups of three.
std::string format_count(std::int64_t count);

// "1.25 s", "830 µs".
std::string format_duration(std::int64_t time_ns);

}  // namespace tidemark
