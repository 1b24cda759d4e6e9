// Cuts the columns into stretches of one step or phase, and writes what fits under each.
#include "tidemark/engine/reports/chart_labels.h"

#include <algorithm>

#include "tidemark/engine/reports/layout.h"

namespace tidemark {
namespace {

struct Stretch {
  std::size_t begin = 0, length = 0;
  std::int64_t step = 0;
  Phase phase = Phase::Other;
};

template <class Same>
std::vector<Stretch> stretches_of(const std::vector<const TimelinePoint*>& columns, Same same) {
  std::vector<Stretch> stretches;
  const TimelinePoint* before = nullptr;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const TimelinePoint* point = columns[c];
    if (!point) continue;
    if (!before || !same(*before, *point)) stretches.push_back({c, 0, point->step, point->phase});
    ++stretches.back().length;
    before = point;
  }
  return stretches;
}

std::string step_label(std::int64_t step) {
  return step == 0 ? "before step 1" : "step " + std::to_string(step);
}

// The longest label that leaves a blank before the next stretch; empty where none does.
std::string fitting_label(const Stretch& stretch) {
  std::string label = step_label(stretch.step);
  if (label.size() < stretch.length) return label;
  label = stretch.step == 0 ? "" : std::to_string(stretch.step);
  return label.size() < stretch.length ? label : "";
}

// Where steps are narrower than their labels, every few steps get one.
std::vector<std::string> labels_of(const std::vector<Stretch>& steps, std::size_t width) {
  std::vector<std::string> labels(steps.size());
  std::transform(steps.begin(), steps.end(), labels.begin(), fitting_label);
  if (std::any_of(labels.begin(), labels.end(), [](auto& label) { return !label.empty(); }))
    return labels;
  std::size_t free_from = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::string label = step_label(steps[s].step);
    if (steps[s].begin < free_from || steps[s].begin + label.size() > width) continue;
    labels[s] = label;
    free_from = steps[s].begin + label.size() + 1;
  }
  return labels;
}

void label_steps(AxisLabels& labels, const std::vector<Stretch>& steps, std::size_t width) {
  const bool only_set_up = steps.size() == 1 && steps.front().step == 0;
  if (only_set_up) return;
  const std::vector<std::string> names = labels_of(steps, width);
  std::vector<bool> is_tick(width, false);
  std::string row(width, ' ');
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (names[s].empty()) continue;
    is_tick[steps[s].begin] = true;
    row.replace(steps[s].begin, names[s].size(), names[s]);
  }
  labels.ticks.clear();
  for (bool tick : is_tick) labels.ticks += tick ? "┬" : "─";
  labels.steps = row;
}

// The whole name where there is room for it and a blank, else its first letter.
void label_phases(AxisLabels& labels, const std::vector<Stretch>& phases, std::size_t width) {
  std::string row(width, ' ');
  for (const Stretch& stretch : phases) {
    if (stretch.phase == Phase::Other || stretch.length < 2) continue;
    const std::string_view name = name_of(stretch.phase);
    const std::string_view shown = name.size() < stretch.length ? name : name.substr(0, 1);
    row.replace(stretch.begin, shown.size(), shown);
  }
  if (row.find_first_not_of(' ') != std::string::npos) labels.phases = row;
}

}  // namespace

AxisLabels label_axis(const std::vector<const TimelinePoint*>& columns) {
  AxisLabels labels;
  labels.ticks = repeated("─", columns.size());
  const auto same_step = [](auto& a, auto& b) { return a.step == b.step; };
  const auto same_phase = [](auto& a, auto& b) { return a.step == b.step && a.phase == b.phase; };
  label_steps(labels, stretches_of(columns, same_step), columns.size());
  label_phases(labels, stretches_of(columns, same_phase), columns.size());
  return labels;
}

}  // namespace tidemark
