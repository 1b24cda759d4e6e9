// Modules in words: the tree with its peaks, then each phase in full.
#include <algorithm>

#include "tidemark/engine/reports/bars.h"
#include "tidemark/engine/reports/layout.h"
#include "tidemark/engine/reports/module_tree.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

Table module_table(const std::vector<Phase>& phases, bool has_buffers) {
  std::vector<TableColumn> columns = {{"module"}, {"params", Align::Right}};
  if (has_buffers) columns.push_back({"buffers", Align::Right});
  for (Phase phase : phases)
    columns.push_back({std::string(name_of(phase)) + " peak", Align::Right});
  return Table(std::move(columns));
}

std::string peak_cell(const Page& page, const ScopeFacts& scope, Phase phase,
                      const std::string& device) {
  const ScopeCalls* calls = calls_in(scope, phase);
  const ScopeBytes* bytes = calls ? bytes_on(*calls, device) : nullptr;
  return bytes ? page.bytes(bytes->peak) : "-";
}

std::string bytes_or_dash(const Page& page, std::int64_t bytes) {
  return bytes == 0 ? "-" : page.bytes(bytes);
}

void add_module_table(Page& page, const ScopesAnswer& answer, const std::string& device) {
  const std::vector<Phase> phases = phases_of(answer);
  const bool has_buffers =
      std::any_of(answer.scopes.begin(), answer.scopes.end(),
                  [](const ScopeFacts& scope) { return scope.buffer_bytes != 0; });
  Table table = module_table(phases, has_buffers);
  std::vector<std::string_view> paths;
  for (const ScopeFacts& scope : answer.scopes) paths.push_back(scope.path);
  const std::vector<std::string> labels = tree_labels(paths);
  for (std::size_t s = 0; s < answer.scopes.size(); ++s) {
    const ScopeFacts& scope = answer.scopes[s];
    std::vector<std::string> cells = {labels[s], bytes_or_dash(page, scope.parameter_bytes)};
    if (has_buffers) cells.push_back(bytes_or_dash(page, scope.buffer_bytes));
    for (Phase phase : phases) cells.push_back(peak_cell(page, scope, phase, device));
    table.add(std::move(cells));
  }
  table.draw(page);
}

std::vector<TableColumn> call_columns() {
  return {{"calls", Align::Right},  {"before", Align::Right},  {"after", Align::Right},
          {"grown", Align::Right},  {"peak", Align::Right},    {"mostly", Align::Right},
          {"inputs", Align::Right}, {"outputs", Align::Right}, {"events", Align::Right},
          {"peak at", Align::Right}};
}

std::vector<std::string> call_cells(const Page& page, const ScopeCalls& calls,
                                    const ScopeBytes& bytes) {
  return {format_count(calls.calls),
          page.bytes(bytes.before),
          page.bytes(bytes.after),
          page.change(bytes.grown),
          page.bytes(bytes.peak),
          largest_part(bytes.peak_categories, bytes.peak),
          bytes_or_dash(page, calls.input_bytes),
          bytes_or_dash(page, calls.output_bytes),
          range_words(calls.first_event, calls.last_event),
          range_words(bytes.peak_event, bytes.peak_event)};
}

void add_phase(Page& page, const ScopesAnswer& answer, Phase phase, const std::string& device,
               const std::string& suffix) {
  std::vector<TableColumn> columns = call_columns();
  columns.insert(columns.begin(), {"module"});
  Table table(std::move(columns));
  std::vector<std::string_view> paths;
  std::vector<std::vector<std::string>> rows;
  for (const ScopeFacts& scope : answer.scopes) {
    const ScopeCalls* calls = calls_in(scope, phase);
    const ScopeBytes* bytes = calls ? bytes_on(*calls, device) : nullptr;
    if (!bytes) continue;
    paths.push_back(scope.path);
    rows.push_back(call_cells(page, *calls, *bytes));
  }
  if (rows.empty()) return;
  const std::vector<std::string> labels = tree_labels(paths);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].insert(rows[r].begin(), labels[r]);
    table.add(std::move(rows[r]));
  }
  page.heading("Phase " + std::string(name_of(phase)) + suffix);
  table.draw(page);
}

void add_single_calls(Page& page, const ScopesAnswer& answer, const std::string& device,
                      const std::string& suffix) {
  std::vector<TableColumn> columns = call_columns();
  columns.front() = {"call", Align::Right};
  columns.insert(columns.begin(), {{"module"}, {"phase"}});
  Table table(std::move(columns));
  for (const ScopeFacts& scope : answer.scopes)
    for (const ScopeCalls& call : scope.calls) {
      const ScopeBytes* bytes = bytes_on(call, device);
      if (!bytes) continue;
      std::vector<std::string> cells = call_cells(page, call, *bytes);
      cells.front() = format_count(call.first_call);
      cells.insert(cells.begin(), {scope.path, std::string(name_of(call.phase))});
      table.add(std::move(cells));
    }
  if (table.empty()) return;
  page.heading("Each call" + suffix);
  table.draw(page);
}

}  // namespace

void add_modules(Page& page, const ScopesAnswer& answer) {
  if (answer.scopes.empty()) return;
  std::vector<std::string> devices = devices_of(answer);
  if (devices.empty()) devices.emplace_back();
  for (const std::string& device : devices) {
    page.heading("By module" + of_device(device, devices.size()));
    add_module_table(page, answer, device);
  }
}

std::string text_report(const ScopesAnswer& answer, const TextStyle& style) {
  Page page(style);
  if (answer.scopes.empty()) page.line("No module was called.");
  add_modules(page, answer);
  const std::vector<std::string> devices = devices_of(answer);
  for (const std::string& device : devices) {
    const std::string suffix = of_device(device, devices.size());
    for (Phase phase : phases_of(answer)) add_phase(page, answer, phase, device, suffix);
    add_single_calls(page, answer, device, suffix);
  }
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
