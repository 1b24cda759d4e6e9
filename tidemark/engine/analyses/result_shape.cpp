// Reads the part of a signature behind its arrow; whatever does not read is passed over.
#include "tidemark/engine/analyses/result_shape.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace tidemark {
namespace {

struct TypeSize {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array kTypes = {TypeSize{"f32", 4},
                               TypeSize{"f64", 8},
                               TypeSize{"f16", 2},
                               TypeSize{"bf16", 2},
                               TypeSize{"i64", 8},
                               TypeSize{"i32", 4},
                               TypeSize{"i16", 2},
                               TypeSize{"i8", 1},
                               TypeSize{"u8", 1},
                               TypeSize{"bool", 1},
                               TypeSize{"Float8_e4m3fn", 1},
                               TypeSize{"Float8_e5m2", 1},
                               TypeSize{"ComplexFloat", 8},
                               TypeSize{"ComplexDouble", 16}};

std::int64_t size_of_type(std::string_view name) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const TypeSize& type) { return type.name == name; });
  return found == kTypes.end() ? 0 : found->bytes;
}

// The bytes of "bf16[8,1024]"; none where the text is not of that form or passes 63 bits.
std::optional<std::int64_t> bytes_of(std::string_view shape) {
  const std::size_t open = shape.find('[');
  if (open == std::string_view::npos || !shape.ends_with(']')) return std::nullopt;
  std::int64_t bytes = size_of_type(shape.substr(0, open));
  std::string_view sizes = shape.substr(open + 1, shape.size() - open - 2);
  while (!sizes.empty()) {
    std::int64_t size = 0;
    const auto [end, problem] = std::from_chars(sizes.data(), sizes.data() + sizes.size(), size);
    if (problem != std::errc() || size < 0) return std::nullopt;
    if (size > 0 && bytes > INT64_MAX / size) return std::nullopt;
    bytes *= size;
    sizes.remove_prefix(static_cast<std::size_t>(end - sizes.data()));
    if (!sizes.empty() && !sizes.starts_with(',')) return std::nullopt;
    if (!sizes.empty()) sizes.remove_prefix(1);
  }
  return bytes;
}

}  // namespace

std::string shape_of_result(const Tables& tables, CallId call, std::int64_t bytes) {
  if (!call) return {};
  const std::string_view text = tables.strings[tables.calls()[call.value].signature];
  const std::size_t arrow = text.rfind(" -> ");
  if (arrow == std::string_view::npos) return {};
  for (std::string_view results = text.substr(arrow + 4); !results.empty();) {
    const std::size_t end = std::min(results.find(']'), results.size() - 1) + 1;
    const std::string_view shape = results.substr(0, end);
    if (bytes_of(shape) == bytes) return std::string(shape);
    results.remove_prefix(end);
    while (results.starts_with(',') || results.starts_with(' ')) results.remove_prefix(1);
  }
  return {};
}

}  // namespace tidemark
