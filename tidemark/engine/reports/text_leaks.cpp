// Leaks in words: what was left behind in each step, and how the level rose.
#include <algorithm>

#include "tidemark/engine/answers/leaks.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

// Of a long run only the first and the last levels are shown.
constexpr std::size_t kLevelsAtEachEnd = 10;

template <class Rows>
bool has_several_devices(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return row.device != rows.front().device; });
}

void add_headline(Page& page, const LeaksAnswer& answer) {
  const std::string steps = counted(answer.finished_steps, "finished step");
  if (!answer.enough_steps)
    page.paragraph("At least three finished steps are needed to see a leak; the tape has " +
                   format_count(answer.finished_steps) + ".");
  else if (answer.sites.empty()) page.line("No leak was found in " + steps + ".");
  else page.line({{page.bytes(answer.leaked_bytes) + " leaked", Ink::Bold}, {" in " + steps}});
}

void add_sites(Page& page, const std::vector<LeakSite>& sites) {
  page.heading("Born in one step after another, never freed");
  std::vector<TableColumn> columns = {{"leaked", Align::Right},
                                      {"per step", Align::Right},
                                      {"steps", Align::Right},
                                      {"storages", Align::Right},
                                      {"category"},
                                      {"where"}};
  if (has_several_devices(sites)) columns.push_back({"device"});
  Table table(std::move(columns));
  for (const LeakSite& site : sites)
    table.add({page.bytes(site.allocated_bytes), page.bytes(site.bytes_per_step),
               format_count(site.steps) + " (" + range_words(site.first_step, site.last_step) + ")",
               format_count(site.count), std::string(name_of(site.category)),
               place_words(site.scope, site.op, site.source), site.device});
  table.draw(page);
}

void add_levels(Page& page, const std::vector<StepLevel>& levels) {
  page.heading("Allocated at the end of each step");
  std::vector<TableColumn> columns = {{"step", Align::Right}, {"bytes", Align::Right}};
  if (has_several_devices(levels)) columns.push_back({"device"});
  Table table(std::move(columns));
  const bool is_long = levels.size() > 2 * kLevelsAtEachEnd + 1;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (is_long && i == kLevelsAtEachEnd) {
      table.add_omission(levels.size() - 2 * kLevelsAtEachEnd);
      i = levels.size() - kLevelsAtEachEnd;
    }
    table.add({stage_words(levels[i].step, Phase::Other), page.bytes(levels[i].allocated_bytes),
               levels[i].device});
  }
  table.draw(page);
}

}  // namespace

std::string text_report(const LeaksAnswer& answer, const TextStyle& style) {
  Page page(style);
  add_headline(page, answer);
  if (!answer.sites.empty()) add_sites(page, answer.sites);
  if (!answer.levels.empty()) add_levels(page, answer.levels);
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
