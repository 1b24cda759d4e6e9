// Validates UTF-8 by its table of lead bytes.
#include "tidemark/engine/base/utf8.h"

#include <algorithm>

namespace tidemark {
namespace {

// The length of the valid character at the front, or 0.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                             : lead >= 0xe0 && lead <= 0xef ? 3
                             : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(text[i])) return 0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) > 0x9f;
  const bool too_high = lead == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || too_high ? 0 : length;
}

}  // namespace

std::size_t utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = character_length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::size_t display_width(std::string_view text) {
  return text.size() - std::count_if(text.begin(), text.end(), is_continuation);
}

std::string printable(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool c1_control =
        length == 2 && byte == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0;
    if (length == 0 || byte < ' ' || byte == 0x7f || c1_control) safe += "\xef\xbf\xbd";
    else safe += text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return safe;
}

}  // namespace tidemark
