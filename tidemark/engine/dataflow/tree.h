// The events of a recording as a tree in one row: every event before its children.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/dataflow/recording.h"

namespace tidemark::dataflow {

using Position = std::uint32_t;  // a place in the row
inline constexpr Position kNoPosition = UINT32_MAX;

struct Tree {
  std::vector<EventId> events;    // in the row's order
  std::vector<Position> parents;  // by position; kNoPosition: a root
  std::vector<Position> ends;     // by position: where what is below the event ends
  std::vector<Position> by_time;  // by start; events of the same time stay as they are in the row
  std::vector<bool>
      below_backward;  // by position: the event or one above it is a backward function

  std::size_t size() const { return events.size(); }
  // The position of the event's first child, or kNoPosition.
  Position first_child(Position of) const { return of + 1 < ends[of] ? of + 1 : kNoPosition; }
};

// Takes the parents that the recording has; without them, an event lies below the innermost one
// that is open on its thread, and a backward operator on an idle thread below its forward thread's.
Tree build_tree(const Recording& recording);

}  // namespace tidemark::dataflow
