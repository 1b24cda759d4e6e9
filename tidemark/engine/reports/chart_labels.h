// What stands below a chart: where steps begin, and which phase each stretch is in.
#pragma once

#include <string>
#include <vector>

#include "tidemark/engine/answers/timeline.h"

namespace tidemark {

struct AxisLabels {
  std::string ticks;   // "┬───┬──"
  std::string steps;   // "step 1  step 2"; empty where no step begins
  std::string phases;  // "forward  backward"; empty where none is known
};

// One point a column; null before the first.
AxisLabels label_axis(const std::vector<const TimelinePoint*>& columns);

}  // namespace tidemark
