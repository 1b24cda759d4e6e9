// Settings of the allocator in words: one table a GPU, and which one is worth having.
#include "tidemark/engine/answers/alloc.h"
#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

std::string setting_words(const std::string& settings) {
  return settings.empty() ? "(default)" : printable(settings);
}

void add_outcomes(Page& page, const DeviceSettings& device, bool has_room) {
  std::vector<TableColumn> columns = {{"PYTORCH_CUDA_ALLOC_CONF"},
                                      {"allocated", Align::Right},
                                      {"reserved", Align::Right},
                                      {"fragmented", Align::Right}};
  if (has_room)
    columns.insert(columns.end(), {{"retries", Align::Right}, {"failed", Align::Right}});
  Table table(std::move(columns));
  for (const SettingOutcome& one : device.outcomes) {
    std::vector<std::string> cells = {
        setting_words(one.settings), page.bytes(one.peak.allocated_bytes),
        page.bytes(one.peak.reserved_peak_bytes), page.bytes(one.peak.fragmented_bytes)};
    if (has_room) {
      cells.push_back(format_count(one.retries.value_or(0)));
      cells.push_back(format_count(one.failures.value_or(0)));
    }
    table.add(std::move(cells));
  }
  table.draw(page);
}

std::string advice_of(const Page& page, const DeviceSettings& device) {
  const SettingOutcome& own = device.outcomes.front();
  if (device.best.empty() && own.settings.empty())
    return "None is worth setting: no other one reserves clearly less than the default.";
  if (device.best.empty())
    return "Nothing is gained over the run's own " + printable(own.settings) + ".";
  const std::string set = "Worth setting: PYTORCH_CUDA_ALLOC_CONF=" + printable(device.best);
  if (device.saved_bytes > 0) return set + " reserves " + page.bytes(device.saved_bytes) + " less.";
  return set + " needs fewer retries.";
}

}  // namespace

std::string text_report(const AllocAnswer& answer, const TextStyle& style) {
  Page page(style);
  if (answer.devices.empty()) page.line("No memory was allocated on a GPU.");
  for (const DeviceSettings& device : answer.devices) {
    page.heading(printable(device.device) + "  what PyTorch's allocator holds at its highest");
    add_outcomes(page, device, answer.room_bytes.has_value());
    page.gap();
    page.paragraph(advice_of(page, device));
  }
  if (answer.room_bytes && !answer.devices.empty())
    page.paragraph("Retries and failed requests are those of a GPU that leaves " +
                       page.bytes(*answer.room_bytes) + " to the allocator.",
                   0, 0, Ink::Dim);
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
