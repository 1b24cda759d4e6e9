// Asks the system and the environment.
#include "tidemark/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tidemark::cli {
namespace {

constexpr std::size_t kUsualWidth = 80;
// Tables cannot be squeezed below this; a narrower terminal has to wrap.
constexpr std::size_t kLeastWidth = 40;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::size_t width_from_environment() {
  const std::string_view text = environment("COLUMNS");
  std::size_t width = 0;
  std::from_chars(text.data(), text.data() + text.size(), width);
  return width;
}

}  // namespace

std::size_t terminal_width(int descriptor) {
  if (!isatty(descriptor)) return kUsualWidth;
  winsize window{};
  std::size_t width = ioctl(descriptor, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
  if (width == 0) width = width_from_environment();
  return width == 0 ? kUsualWidth : std::max(width, kLeastWidth);
}

bool wants_colour(int descriptor) {
  return isatty(descriptor) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

TextStyle style_of_stdout(Units units) {
  return {terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO), units};
}

}  // namespace tidemark::cli
