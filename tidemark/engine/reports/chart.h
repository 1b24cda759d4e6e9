// The timeline drawn in the terminal: a stacked area, one column of characters a slice of the axis.
#pragma once

#include "tidemark/engine/answers/timeline.h"
#include "tidemark/engine/reports/page.h"

namespace tidemark {

inline constexpr std::size_t kChartRows = 8;

// Draws one device of the answer over the whole axis in one row or more, with steps and phases
// below. A label is the height of its row's upper edge:
//
//   3.00 GiB ┤      ░░░░
//            │    ░░░░░░░░
//   1.50 GiB ┤  ░░░░▒▒▒▒▒▒▒▒
//            │████████████████
//        0 B └┬──────────┬──────
//             step 1     step 2
//             forward  b forwar
void draw_chart(Page& page, const TimelineAnswer& answer, const DeviceTimeline& device,
                std::size_t rows = kChartRows);

}  // namespace tidemark
