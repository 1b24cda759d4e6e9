// Modules in an overview: what each owns of the peak, and how high memory rises while it runs.
#include <algorithm>

#include "tidemark/engine/reports/bars.h"
#include "tidemark/engine/reports/layout.h"
#include "tidemark/engine/reports/module_rows.h"
#include "tidemark/engine/reports/module_tree.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

constexpr std::size_t kBriefRows = 7;
constexpr std::int64_t kLeastPercent = 1;

ModuleChoice choice_for(Detail detail) {
  switch (detail) {
    case Detail::Brief: return {.most_rows = kBriefRows};
    case Detail::Modules: return {};
    default: return {.hides_small = false, .folds_layers = false};
  }
}

// The phases a module is asked about; what belongs to none is in no column.
std::vector<Phase> phases_shown(const ScopesAnswer& scopes) {
  std::vector<Phase> phases = phases_of(scopes);
  if (phases.size() > 1) std::erase(phases, Phase::Other);
  return phases;
}

// Blank where a row is no module, a dash where the module never ran in the phase.
std::string peak_cell(const Page& page, const ScopeFacts* scope, Phase phase,
                      const std::string& device) {
  if (!scope) return "";
  const ScopeCalls* calls = calls_in(*scope, phase);
  const ScopeBytes* bytes = calls ? bytes_on(*calls, device) : nullptr;
  return bytes ? page.bytes(bytes->peak) : "-";
}

bool owns_parameters(const ModuleRow& row) { return row.scope && row.scope->parameter_bytes > 0; }

std::string parameters_cell(const Page& page, const ScopeFacts* scope) {
  if (!scope) return "";
  return scope->parameter_bytes == 0 ? "-" : page.bytes(scope->parameter_bytes);
}

// The highest of a module's peaks on the device; null where it never ran.
const ScopeBytes* highest_of(const ScopeFacts& scope, const std::string& device) {
  const ScopeBytes* highest = nullptr;
  for (const ScopeCalls& calls : scope.phases) {
    const ScopeBytes* bytes = bytes_on(calls, device);
    if (bytes && (!highest || bytes->peak > highest->peak)) highest = bytes;
  }
  return highest;
}

// The categories that any module's highest peak has a percent of, most bytes first.
std::vector<Category> categories_of(const std::vector<ModuleRow>& rows, const std::string& device) {
  CategoryBytes most{};
  for (const ModuleRow& row : rows) {
    const ScopeBytes* highest = row.scope ? highest_of(*row.scope, device) : nullptr;
    if (!highest) continue;
    for (std::size_t c = 0; c < kCategoryCount; ++c)
      if (highest->peak_categories[c] >= highest->peak / 100 * kLeastPercent)
        most[c] = std::max(most[c], highest->peak_categories[c]);
  }
  std::vector<Category> categories;
  for (const auto& [category, bytes] : sorted_categories(most)) categories.push_back(category);
  return categories;
}

void add_shares(Page& page, const std::vector<ModuleRow>& rows, const std::string& device) {
  const std::vector<Category> categories = categories_of(rows, device);
  if (categories.empty()) return;
  std::vector<TableColumn> columns = {{"module"}};
  for (Category category : categories)
    columns.push_back({std::string(name_of(category)), Align::Right});
  Table table(std::move(columns));
  for (const ModuleRow& row : rows) {
    const ScopeBytes* highest = row.scope ? highest_of(*row.scope, device) : nullptr;
    std::vector<std::string> cells = {row.label};
    for (Category category : categories) {
      const std::int64_t bytes =
          highest ? highest->peak_categories[static_cast<std::size_t>(category)] : 0;
      cells.push_back(!highest ? "" : bytes == 0 ? "-" : percent_of(bytes, highest->peak));
    }
    table.add(std::move(cells));
  }
  page.heading("What the highest of these is made of");
  table.draw(page);
}

}  // namespace

void add_module_tree(Page& page, const ScopesAnswer& scopes, const DevicePeak& peak,
                     const std::string& suffix, Detail detail) {
  const std::vector<ModuleRow> rows = choose_modules(scopes, peak, choice_for(detail));
  if (rows.empty()) return;
  const std::vector<Phase> phases = phases_shown(scopes);
  const bool has_parameters = std::any_of(rows.begin(), rows.end(), owns_parameters);
  std::vector<TableColumn> columns = {
      {"module"}, {"of the peak", Align::Right}, {"share", Align::Right}};
  if (has_parameters) columns.push_back({"params", Align::Right});
  for (Phase phase : phases) columns.push_back({"in " + std::string(name_of(phase)), Align::Right});
  Table table(std::move(columns), TableHead::Titles);
  for (const ModuleRow& row : rows) {
    std::vector<std::string> cells = {
        row.label, row.bytes == 0 ? "-" : page.bytes(row.bytes),
        row.bytes == 0 ? "-" : percent_of(row.bytes, peak.allocated_bytes)};
    if (has_parameters) cells.push_back(parameters_cell(page, row.scope));
    for (Phase phase : phases) cells.push_back(peak_cell(page, row.scope, phase, peak.device));
    table.add(std::move(cells));
  }
  page.heading("By module" + suffix + ": what it owns of the peak" +
               (phases.empty() ? "" : ", and the peak while it runs"));
  table.draw(page);
  if (detail != Detail::Brief) add_shares(page, rows, peak.device);
}

}  // namespace tidemark
