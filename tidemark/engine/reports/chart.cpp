// Slices the axis into columns, stacks the families in each, and labels both axes.
#include "tidemark/engine/reports/chart.h"

#include <algorithm>
#include <array>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/chart_labels.h"
#include "tidemark/engine/reports/families.h"
#include "tidemark/engine/reports/layout.h"

namespace tidemark {
namespace {

constexpr std::size_t kNarrowestPlot = 10;

// The highest state of each slice; a slice without changes goes on with the state before it.
std::vector<const TimelinePoint*> slices_of(const TimelineAnswer& answer,
                                            const DeviceTimeline& device, std::size_t width) {
  std::vector<const TimelinePoint*> slices(width, nullptr), last(width, nullptr);
  const double first = static_cast<double>(answer.first);
  const double length = static_cast<double>(answer.last) - first + 1;
  for (const TimelinePoint& point : device.points) {
    const auto at = answer.axis == TimelineAxis::Events ? point.event : point.time_ns;
    const double place = (static_cast<double>(at) - first) / length * static_cast<double>(width);
    const auto slice =
        static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(width - 1)));
    last[slice] = &point;
    if (!slices[slice] || point.highest > slices[slice]->highest) slices[slice] = &point;
  }
  for (std::size_t s = 1; s < width; ++s)
    if (!slices[s]) slices[s] = last[s] = last[s - 1];
  return slices;
}

// The top of each family's band, stacked from the ground up. Doubles: sums may pass 63 bits.
using Bands = std::array<double, kFamilies.size()>;

Bands bands_of(const TimelinePoint& point) {
  Bands tops{};
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    tops[family_of(static_cast<Category>(c))] += static_cast<double>(point.categories[c]);
  for (std::size_t f = 1; f < tops.size(); ++f) tops[f] += tops[f - 1];
  return tops;
}

struct Plot {
  std::size_t rows = kChartRows;
  std::vector<const TimelinePoint*> slices;
  std::vector<Bands> bands;
  std::int64_t highest = 0;
  std::size_t label_width = 0;
};

// The family that covers this height, or none: the number of families.
std::size_t family_at(const Bands& bands, double height) {
  return static_cast<std::size_t>(
      std::find_if(bands.begin(), bands.end(), [&](double top) { return top > height; }) -
      bands.begin());
}

std::vector<Inked> plot_row(const Plot& plot, std::size_t row) {
  std::vector<Inked> runs;
  std::size_t current = kFamilies.size() + 1;
  const double middle =
      (static_cast<double>(plot.rows - row) - 0.5) / static_cast<double>(plot.rows);
  for (const Bands& bands : plot.bands) {
    const std::size_t family = family_at(bands, middle * static_cast<double>(plot.highest));
    const bool is_empty = family == kFamilies.size();
    if (family != current) runs.push_back({"", is_empty ? Ink::Plain : kFamilies[family].ink});
    runs.back().text += is_empty ? " " : kFamilies[family].fill;
    current = family;
  }
  return runs;
}

std::string margin(const Plot& plot, std::string_view label, std::string_view edge) {
  const std::string shown = plot.label_width > 0 ? std::string(label) : "";
  return "  " + right_aligned(shown, plot.label_width) + " " + std::string(edge);
}

// The bytes at a row's upper edge, rounded down; no product of large sizes is formed.
std::int64_t upper_edge(const Plot& plot, std::size_t row) {
  const auto rows = static_cast<std::int64_t>(plot.rows);
  const auto rows_below = static_cast<std::int64_t>(plot.rows - row);
  return plot.highest / rows * rows_below + plot.highest % rows * rows_below / rows;
}

std::size_t middle_row(const Plot& plot) { return plot.rows / 2; }

void draw_rows(Page& page, const Plot& plot) {
  for (std::size_t row = 0; row < plot.rows; ++row) {
    const bool is_labelled = row == 0 || row == middle_row(plot);
    const std::string label = is_labelled ? page.bytes(upper_edge(plot, row)) : "";
    std::vector<Inked> runs = plot_row(plot, row);
    runs.insert(runs.begin(), {margin(plot, label, is_labelled ? "┤" : "│"), Ink::Dim});
    page.line(std::move(runs));
  }
}

void draw_axis(Page& page, const Plot& plot) {
  const AxisLabels labels = label_axis(plot.slices);
  page.line({{margin(plot, page.bytes(0), "└") + labels.ticks, Ink::Dim}});
  const std::string left(plot.label_width + 4, ' ');
  if (!labels.steps.empty()) page.line({{left + labels.steps}});
  if (!labels.phases.empty()) page.line({{left + labels.phases, Ink::Dim}});
}

void draw_legend(Page& page, const Plot& plot) {
  std::vector<Inked> line;
  std::size_t used = 0;
  for (std::size_t f = 0; f < kFamilies.size(); ++f) {
    const bool is_used = std::any_of(plot.bands.begin(), plot.bands.end(), [&](const Bands& b) {
      return b[f] > (f == 0 ? 0 : b[f - 1]);
    });
    if (!is_used) continue;
    const std::size_t needed = 2 + 2 + display_width(kFamilies[f].name);
    if (used + needed > page.width()) {
      page.line(std::move(line));
      line.clear();
      used = 0;
    }
    used += needed;
    line.push_back({"  "});
    line.push_back({std::string(kFamilies[f].fill), kFamilies[f].ink});
    line.push_back({" " + std::string(kFamilies[f].name)});
  }
  page.line(std::move(line));
}

}  // namespace

void draw_chart(Page& page, const TimelineAnswer& answer, const DeviceTimeline& device,
                std::size_t rows) {
  Plot plot;
  plot.rows = rows;
  for (const TimelinePoint& point : device.points)
    plot.highest = std::max(plot.highest, point.highest);
  for (std::int64_t labelled : {plot.highest, upper_edge(plot, middle_row(plot)), std::int64_t{0}})
    plot.label_width = std::max(plot.label_width, display_width(page.bytes(labelled)));
  if (plot.label_width + 4 + kNarrowestPlot > page.width()) plot.label_width = 0;
  plot.slices = slices_of(answer, device, page.width() - plot.label_width - 4);
  for (const TimelinePoint* point : plot.slices)
    plot.bands.push_back(point ? bands_of(*point) : Bands{});
  draw_rows(page, plot);
  draw_axis(page, plot);
  // A short chart stands below bars of the same fills.
  if (rows >= kChartRows) draw_legend(page, plot);
}

}  // namespace tidemark
