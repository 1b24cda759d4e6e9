// Reads the two settings, and knows the sizes without them.
#include "tidemark/libtorch/attribution/blas_workspaces.h"

#include <charconv>
#include <optional>

namespace tidemark::attribution {
namespace {

constexpr std::int64_t kKiB = 1024;

// The next number of a list that colons part; nothing where there is none.
std::optional<std::int64_t> take_number(std::string_view& text) {
  if (text.empty() || text.front() != ':') return {};
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (problem != std::errc() || number < 0) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// ":KiB:count" again and again; nothing for any other text.
std::optional<std::int64_t> read_blas_setting(std::string_view text) {
  std::int64_t bytes = 0;
  do {
    const auto size = take_number(text), count = take_number(text);
    if (!size || !count) return {};
    std::int64_t kib = 0, product = 0;
    if (__builtin_mul_overflow(*size, *count, &kib) ||
        __builtin_mul_overflow(kib, kKiB, &product) ||
        __builtin_add_overflow(bytes, product, &bytes))
      return {};
  } while (!text.empty());
  return bytes;
}

}  // namespace

std::int64_t blas_workspace_bytes(int capability_major, std::string_view setting) {
  if (const auto bytes = read_blas_setting(setting)) return *bytes;
  constexpr std::int64_t kOlder = 2 * 4096 * kKiB + 8 * 16 * kKiB;
  return capability_major >= 9 ? 32 * 1024 * kKiB : kOlder;
}

std::int64_t blas_lt_workspace_bytes(std::string_view setting) {
  std::int64_t kib = 0;
  const auto [end, problem] = std::from_chars(setting.data(), setting.data() + setting.size(), kib);
  const bool is_number = problem == std::errc() && end == setting.data() + setting.size();
  return (is_number && kib >= 0 ? kib : 1024) * kKiB;
}

}  // namespace tidemark::attribution
