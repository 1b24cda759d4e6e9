// One small function per verb, in a table.
#include "tests/cases/runner/questions.h"

#include <array>
#include <string_view>

#include "tidemark/engine/analyses/diff.h"
#include "tidemark/engine/analyses/leaks.h"
#include "tidemark/engine/analyses/lifetimes.h"
#include "tidemark/engine/analyses/overview.h"
#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/analyses/scopes.h"
#include "tidemark/engine/analyses/timeline.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/reports/text.h"
#include "tidemark/engine/tape/text_reader.h"
#include "tidemark/engine/tape/text_writer.h"

namespace tidemark::cases {
namespace {

const TextStyle kStyle{.width = 80, .colour = false, .units = Units::B};

template <class OptionsOf>
OptionsOf selected(const Options& options) {
  OptionsOf result;
  static_cast<Selection&>(result) = selection_of(options);
  return result;
}

std::string peak(const Options& options, Tapes& tapes) {
  auto asked = selected<PeakOptions>(options);
  asked.top = static_cast<std::size_t>(number_of(options, "--top", 10));
  return text_report(find_peak(tapes.a(), asked), kStyle);
}

std::string scopes(const Options& options, Tapes& tapes) {
  auto asked = selected<ScopesOptions>(options);
  asked.depth = static_cast<std::size_t>(number_of(options, "--depth", 0));
  asked.per_call = options.contains("--calls");
  return text_report(find_scopes(tapes.a(), asked), kStyle);
}

std::string timeline(const Options& options, Tapes& tapes) {
  auto asked = selected<TimelineOptions>(options);
  asked.columns = static_cast<std::size_t>(number_of(options, "--columns", 0));
  if (options.contains("--time")) asked.axis = TimelineAxis::Time;
  return text_report(find_timeline(tapes.a(), asked), kStyle);
}

std::string lifetimes(const Options& options, Tapes& tapes) {
  auto asked = selected<LifetimesOptions>(options);
  asked.top = static_cast<std::size_t>(number_of(options, "--top", 10));
  return text_report(find_lifetimes(tapes.a(), asked), kStyle);
}

std::string leaks(const Options& options, Tapes& tapes) {
  LeaksOptions asked;
  asked.device = selection_of(options).device;
  asked.top = static_cast<std::size_t>(number_of(options, "--top", 10));
  return text_report(find_leaks(tapes.a(), asked), kStyle);
}

std::string diff(const Options& options, Tapes& tapes) {
  auto asked = selected<DiffOptions>(options);
  asked.top = static_cast<std::size_t>(number_of(options, "--top", 10));
  return text_report(find_diff(tapes.a(), tapes.b(), asked), kStyle);
}

std::string report(const Options& options, Tapes& tapes) {
  auto asked = selected<OverviewOptions>(options);
  asked.depth = static_cast<std::size_t>(number_of(options, "--depth", 2));
  return text_report(find_overview(tapes.a(), asked), kStyle);
}

std::string verify_tape(const Options&, Tapes& tapes) {
  return text_report(verify(tapes.a()), kStyle);
}

// What is written must say the same when it is read and written again.
std::string text(const Options&, Tapes& tapes) {
  const std::string first = write_tape_text(tapes.a());
  const std::string second = write_tape_text(read_tape_text(first, "case"));
  return first == second ? first : "not the same when read again:\n" + second;
}

std::string error(const Options&, Tapes& tapes) {
  tapes.a();
  return "no error\n";
}

struct Verb {
  std::string_view name;
  std::string (*answer)(const Options&, Tapes&);
};
constexpr std::array<Verb, 10> kVerbs = {{{"peak", peak},
                                          {"scopes", scopes},
                                          {"timeline", timeline},
                                          {"lifetimes", lifetimes},
                                          {"leaks", leaks},
                                          {"diff", diff},
                                          {"report", report},
                                          {"verify", verify_tape},
                                          {"text", text},
                                          {"error", error}}};

const Verb* find_verb(const std::string& name) {
  for (const Verb& verb : kVerbs)
    if (verb.name == name) return &verb;
  return nullptr;
}

}  // namespace

bool is_question(const std::string& verb) { return find_verb(verb) != nullptr; }

std::string answer(const Section& section, Tapes& tapes) {
  try {
    return find_verb(section.verb)->answer(section.options, tapes);
  } catch (const Error& error) {
    return std::string(name_of(error.code())) + ": " + error.what() + "\n";
  }
}

}  // namespace tidemark::cases
