// What is known of the place that output goes to.
#pragma once

#include <cstddef>

#include "tidemark/engine/reports/text.h"

namespace tidemark::cli {

// Columns of the terminal behind a file descriptor; 80 for a pipe or a file.
std::size_t terminal_width(int descriptor);
// Colour only on a terminal that can, and only for people who have not set NO_COLOR.
bool wants_colour(int descriptor);
TextStyle style_of_stdout(Units units);

}  // namespace tidemark::cli
