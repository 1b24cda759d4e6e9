// Answers as text for people: tables that fit the terminal.
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/engine/answers/catalogue.h"
#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/base/units.h"

namespace tidemark {

// How much of an overview is told.
enum class Detail : std::uint8_t {
  Brief,    // what fits on a screen and a half
  Modules,  // with all modules, and what each one's peak is made of
  Full,     // nothing is left out
};

// What the caller knows of the place the text goes to.
struct TextStyle {
  std::size_t width = 80;
  bool colour = false;
  Units units = Units::Auto;
  Detail detail = Detail::Brief;
  std::size_t rows = 0;  // of the lists in an overview; 0: as many as the detail has
  std::string tape;      // the file the answer is from, to name it in what to ask next
};

// text_report of every answer in the catalogue, each defined in its own file.
#define TIDEMARK_TEXT_REPORT(Answer) \
  std::string text_report(const Answer& answer, const TextStyle& style = {});
TIDEMARK_ANSWERS(TIDEMARK_TEXT_REPORT)
#undef TIDEMARK_TEXT_REPORT
// Diagnostics alone, as `tidemark verify` prints them.
std::string text_report(const Diagnostics& diagnostics, const TextStyle& style = {});

}  // namespace tidemark
