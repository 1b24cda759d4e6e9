// Answers as text for people: tables that fit the terminal.
#pragma once

#include <string>

#include "tidemark/engine/answers/diff.h"
#include "tidemark/engine/answers/leaks.h"
#include "tidemark/engine/answers/lifetimes.h"
#include "tidemark/engine/answers/overview.h"
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
  std::string tape;  // the file the answer is from, to name it in what to ask next
};

std::string text_report(const Overview& answer, const TextStyle& style = {});
std::string text_report(const PeakAnswer& answer, const TextStyle& style = {});
std::string text_report(const ScopesAnswer& answer, const TextStyle& style = {});
std::string text_report(const TimelineAnswer& answer, const TextStyle& style = {});
std::string text_report(const VerdictAnswer& answer, const TextStyle& style = {});
std::string text_report(const VerdictsAnswer& answer, const TextStyle& style = {});
std::string text_report(const LifetimesAnswer& answer, const TextStyle& style = {});
std::string text_report(const LeaksAnswer& answer, const TextStyle& style = {});
std::string text_report(const DiffAnswer& answer, const TextStyle& style = {});
// Diagnostics alone, as `tidemark verify` prints them.
std::string text_report(const Diagnostics& diagnostics, const TextStyle& style = {});

}  // namespace tidemark
