// The timeline in the terminal: one chart a device.
#include <algorithm>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/chart.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

std::string axis_words(const TimelineAnswer& answer) {
  if (answer.axis == TimelineAxis::Events)
    return ", events " + format_count(answer.first) + " to " + format_count(answer.last);
  return ", " + format_duration(answer.first) + " to " + format_duration(answer.last);
}

bool has_bytes(const DeviceTimeline& device) {
  return std::any_of(device.points.begin(), device.points.end(),
                     [](const TimelinePoint& point) { return point.highest > 0; });
}

}  // namespace

void add_chart(Page& page, const TimelineAnswer& answer, const std::string& name,
               std::size_t rows) {
  for (const DeviceTimeline& device : answer.devices) {
    if (device.device != name || !has_bytes(device)) continue;
    page.heading("Timeline of " + printable(device.device) + axis_words(answer));
    draw_chart(page, answer, device, rows);
  }
}

std::string text_report(const TimelineAnswer& answer, const TextStyle& style) {
  Page page(style);
  if (std::none_of(answer.devices.begin(), answer.devices.end(), has_bytes))
    page.line("No memory was allocated.");
  for (const DeviceTimeline& device : answer.devices)
    add_chart(page, answer, device.device, kChartRows);
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
