// Each first word of a check has a small function that finds the value.
#include "tests/cases/runner/checks.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

#include "tidemark/engine/analyses/diff.h"
#include "tidemark/engine/analyses/leaks.h"
#include "tidemark/engine/analyses/lifetimes.h"
#include "tidemark/engine/analyses/overview.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/replay/verify.h"

namespace tidemark::cases {
namespace {

using Words = std::vector<std::string>;

// What a check line asks of.
struct Question {
  Words words;  // after the first
  const Options& options;
  Tapes& tapes;

  const std::string& word(std::size_t i) const {
    static const std::string kNothing;
    return i < words.size() ? words[i] : kNothing;
  }
};

constexpr const char* kUnknown = "(no such thing)";

template <class Rows, class IsIt>
auto find_row(const Rows& rows, IsIt is_it) -> const typename Rows::value_type* {
  auto found = std::find_if(rows.begin(), rows.end(), is_it);
  return found == rows.end() ? nullptr : &*found;
}

template <class OptionsOf>
OptionsOf selected(const Question& q) {
  OptionsOf result;
  static_cast<Selection&>(result) = selection_of(q.options);
  return result;
}

std::string bytes_of(const CategoryBytes& bytes, const std::string& name) {
  const auto category = category_named(name);
  return category ? std::to_string(bytes[static_cast<std::size_t>(*category)]) : kUnknown;
}

std::string when(const When& at, const std::string& what) {
  if (what == "event") return std::to_string(at.event);
  if (what == "time") return std::to_string(at.time_ns);
  if (what == "step") return std::to_string(at.step);
  if (what == "phase") return std::string(name_of(at.phase));
  if (what == "scope") return at.scope;
  if (what == "op") return at.op;
  if (what == "source") return at.source;
  return kUnknown;
}

// peak DEVICE [requested | alive | CATEGORY | event, step, ... | largest N [born ...]]
std::string peak(const Question& q) {
  const PeakAnswer answer = find_peak(q.tapes.a(), selected<PeakOptions>(q));
  const auto* peak = find_row(answer.devices, [&](auto& d) { return d.device == q.word(0); });
  if (!peak) return "none";
  const std::string& what = q.word(1);
  if (what.empty()) return std::to_string(peak->allocated_bytes);
  if (what == "requested") return std::to_string(peak->requested_bytes);
  if (what == "alive") return std::to_string(peak->alive_count);
  if (category_named(what)) return bytes_of(peak->categories, what);
  if (what != "largest") return when(peak->at, what);
  const std::size_t i = std::stoul(q.word(2)) - 1;
  if (i >= peak->largest.size()) return kUnknown;
  const StorageFact& fact = peak->largest[i];
  if (q.word(3) == "born") return when(fact.born, q.word(4));
  if (q.word(3) == "category") return std::string(name_of(fact.category));
  return std::to_string(fact.allocated_bytes);
}

std::string devices(const Question& q) {
  std::string list;
  for (const DevicePeak& peak : find_peak(q.tapes.a(), selected<PeakOptions>(q)).devices)
    list += (list.empty() ? "" : " ") + peak.device;
  return list;
}

std::string scopes(const Question& q) {
  auto options = selected<ScopesOptions>(q);
  options.depth = static_cast<std::size_t>(number_of(q.options, "--depth", 0));
  std::string list;
  for (const ScopeFacts& scope : find_scopes(q.tapes.a(), options).scopes)
    list += (list.empty() ? "" : " ") + scope.path;
  return list;
}

std::string calls(const ScopeCalls& calls, const Question& q) {
  const std::string &what = q.word(2), &device = q.word(3);
  if (what == "calls") return std::to_string(calls.calls);
  if (what == "inputs") return std::to_string(calls.input_bytes);
  if (what == "outputs") return std::to_string(calls.output_bytes);
  const auto* bytes = find_row(calls.devices, [&](auto& d) { return d.device == device; });
  if (!bytes) return "none";
  if (what == "before") return std::to_string(bytes->before);
  if (what == "after") return std::to_string(bytes->after);
  if (what == "grown") return std::to_string(bytes->grown);
  if (what != "peak") return kUnknown;
  return q.words.size() > 4 ? bytes_of(bytes->peak_categories, q.word(4))
                            : std::to_string(bytes->peak);
}

// scope PATH parameters|buffers, scope PATH PHASE calls|inputs|outputs,
// scope PATH PHASE before|after|grown|peak DEVICE [CATEGORY]
std::string scope(const Question& q) {
  const ScopesAnswer answer = find_scopes(q.tapes.a(), selected<ScopesOptions>(q));
  const auto* scope = find_row(answer.scopes, [&](auto& s) { return s.path == q.word(0); });
  if (!scope) return "none";
  if (q.word(1) == "parameters") return std::to_string(scope->parameter_bytes);
  if (q.word(1) == "buffers") return std::to_string(scope->buffer_bytes);
  const auto phase = phase_named(q.word(1));
  const auto* sums = find_row(scope->phases, [&](auto& c) { return c.phase == phase; });
  return sums ? calls(*sums, q) : "none";
}

// timeline DEVICE = the level after each change; with --columns N lowest-highest of each
std::string timeline(const Question& q) {
  auto options = selected<TimelineOptions>(q);
  options.columns = static_cast<std::size_t>(number_of(q.options, "--columns", 0));
  if (q.options.contains("--time")) options.axis = TimelineAxis::Time;
  const TimelineAnswer answer = find_timeline(q.tapes.a(), options);
  const auto* device = find_row(answer.devices, [&](auto& d) { return d.device == q.word(0); });
  if (!device) return "none";
  std::string list;
  for (const TimelinePoint& point : device->points) {
    list += list.empty() ? "" : " ";
    if (options.columns > 0) list += std::to_string(point.lowest) + "-";
    list += std::to_string(point.highest);
  }
  return list;
}

// lifetimes storages, lifetimes CATEGORY SPAN count|bytes|mean, lifetimes heaviest N storage|events
std::string lifetimes(const Question& q) {
  const LifetimesAnswer answer = find_lifetimes(q.tapes.a(), selected<LifetimesOptions>(q));
  if (q.word(0) == "storages") return std::to_string(answer.storages);
  if (q.word(0) == "heaviest") {
    const std::size_t i = std::stoul(q.word(1)) - 1;
    if (i >= answer.heaviest.size()) return "none";
    const Lifetime& life = answer.heaviest[i];
    if (q.word(2) == "events") return std::to_string(life.events);
    if (q.word(2) == "died") return life.died ? when(*life.died, q.word(3)) : "never";
    return std::to_string(life.storage.allocated_bytes);
  }
  const auto* group = find_row(answer.groups, [&](auto& g) {
    return name_of(g.category) == q.word(0) && name_of(g.span) == q.word(1);
  });
  if (!group) return "none";
  if (q.word(2) == "count") return std::to_string(group->count);
  if (q.word(2) == "mean") return std::to_string(group->mean_events);
  return std::to_string(group->allocated_bytes);
}

// leak sites|bytes|enough|finished, leak N bytes|count|steps|per-step|scope|op, leak level DEVICE
std::string leak(const Question& q) {
  LeaksOptions options;
  options.device = selection_of(q.options).device;
  const LeaksAnswer answer = find_leaks(q.tapes.a(), options);
  const std::string &what = q.word(0), &field = q.word(1);
  if (what == "sites") return std::to_string(answer.sites.size());
  if (what == "bytes") return std::to_string(answer.leaked_bytes);
  if (what == "enough") return answer.enough_steps ? "yes" : "no";
  if (what == "finished") return std::to_string(answer.finished_steps);
  if (what == "level") {
    std::string list;
    for (const StepLevel& level : answer.levels)
      if (level.device == field)
        list += (list.empty() ? "" : " ") + std::to_string(level.allocated_bytes);
    return list;
  }
  const std::size_t i = std::stoul(what) - 1;
  if (i >= answer.sites.size()) return "none";
  const LeakSite& site = answer.sites[i];
  if (field == "count") return std::to_string(site.count);
  if (field == "steps") return std::to_string(site.steps);
  if (field == "per-step") return std::to_string(site.bytes_per_step);
  if (field == "scope") return site.scope;
  if (field == "op") return site.op;
  if (field == "source") return site.source;
  return std::to_string(site.allocated_bytes);
}

std::string arrow(const Difference& d) {
  return std::to_string(d.before) + " -> " + std::to_string(d.after);
}

std::string named(const std::vector<Difference>& rows, const std::string& name) {
  const auto* row = find_row(rows, [&](auto& d) { return d.name == name; });
  return row ? arrow(*row) : "none";
}

// diff DEVICE peak|CATEGORY, diff DEVICE scope|op NAME
std::string diff(const Question& q) {
  const DiffAnswer answer = find_diff(q.tapes.a(), q.tapes.b(), selected<DiffOptions>(q));
  const auto* device = find_row(answer.devices, [&](auto& d) { return d.device == q.word(0); });
  if (!device) return "none";
  if (q.word(1) == "peak") return arrow(device->peak);
  if (q.word(1) == "scope") return named(device->scopes, q.word(2));
  if (q.word(1) == "op") return named(device->ops, q.word(2));
  return named(device->categories, q.word(1));
}

std::string same(const Question& q) {
  const bool is_same = find_diff(q.tapes.a(), q.tapes.b(), selected<DiffOptions>(q)).same;
  return is_same ? "yes" : "no";
}

// diagnostic CODE [at]
std::string diagnostic(const Question& q) {
  const Diagnostics all = verify(q.tapes.a());
  const Diagnostic* found = all.find(q.word(0));
  if (!found) return "none";
  return q.word(1) == "at" ? found->where : std::to_string(found->count);
}

std::string diagnostics(const Question& q) {
  const Diagnostics all = verify(q.tapes.a());
  std::string list;
  for (const Diagnostic& d : all.all()) list += (list.empty() ? "" : " ") + d.code;
  return list.empty() ? "none" : list;
}

// error [at]: what reading the tape throws
std::string error(const Question& q) {
  try {
    q.tapes.a();
  } catch (const Error& error) {
    return q.word(0) == "at" ? error.where() : std::string(name_of(error.code()));
  }
  return "none";
}

std::string events(const Question& q) { return std::to_string(q.tapes.a().size()); }
std::string steps(const Question& q) { return std::to_string(q.tapes.a().step_count()); }

struct Subject {
  std::string_view name;
  std::string (*value)(const Question&);
};
constexpr std::array<Subject, 14> kSubjects = {{{"peak", peak},
                                                {"devices", devices},
                                                {"scopes", scopes},
                                                {"scope", scope},
                                                {"timeline", timeline},
                                                {"lifetimes", lifetimes},
                                                {"leak", leak},
                                                {"diff", diff},
                                                {"same", same},
                                                {"diagnostic", diagnostic},
                                                {"diagnostics", diagnostics},
                                                {"error", error},
                                                {"events", events},
                                                {"steps", steps}}};

std::string value_of(const std::string& asked, const Options& options, Tapes& tapes) {
  std::istringstream in(asked);
  std::string first, word;
  in >> first;
  Words words;
  while (in >> word) words.push_back(word);
  const auto* subject = find_row(kSubjects, [&](auto& s) { return s.name == first; });
  return subject ? subject->value({words, options, tapes}) : kUnknown;
}

}  // namespace

std::string check(const Section& section, Tapes& tapes) {
  std::istringstream lines(section.body);
  std::string line, body;
  while (std::getline(lines, line)) {
    const std::size_t equals = line.rfind(" = ");
    const bool is_remark = line.empty() || line.front() == '#';
    if (is_remark || equals == std::string::npos) {
      body += line + (is_remark ? "\n" : " = (a check needs a value)\n");
      continue;
    }
    const std::string asked = line.substr(0, equals);
    body += asked + " = " + value_of(asked, section.options, tapes) + "\n";
  }
  return body;
}

}  // namespace tidemark::cases
