// What events tell of parameters, gradients and optimizer states without any data flow.
#pragma once

#include "tidemark/engine/dataflow/tree.h"

namespace tidemark::dataflow {

// The gradient that the event at a position, a gradient accumulator, keeps or adds to; or none.
TensorRow accumulated_gradient(const Recording& recording, const Tree& tree, Position at);

// Calls `see(parameter, gradient)` with TensorRows, of which one or both may be empty, for the
// event at a position: what a gradient accumulator keeps or adds to, or what a module or optimizer
// has.
template <class See>
void for_parameters_and_gradients(const Recording& recording, const Tree& tree, Position at,
                                  See see) {
  const Event& event = recording.events[tree.events[at].value];
  if (event.kind == EventKind::Operator) {
    if (const TensorRow gradient = accumulated_gradient(recording, tree, at))
      see(TensorRow(), gradient);
  } else if (event.kind == EventKind::PythonCall && event.detail != kNoRow) {
    const Owner& owner = recording.owners[event.detail];
    for (std::uint32_t p = 0; p < owner.parameter_count; ++p) {
      const OwnedParameter& owned = recording.parameters[owner.first_parameter + p];
      see(owned.parameter, owned.gradient);
    }
  }
}

// Calls `see(tensor)` for the states of an optimizer that the event shows.
template <class See>
void for_states(const Recording& recording, const Event& event, See see) {
  if (event.kind != EventKind::PythonCall || event.detail == kNoRow) return;
  const Owner& owner = recording.owners[event.detail];
  for (std::uint32_t p = 0; p < owner.parameter_count; ++p) {
    const OwnedParameter& owned = recording.parameters[owner.first_parameter + p];
    for (std::uint32_t s = 0; s < owned.state_count; ++s)
      see(recording.states[owned.first_state + s].tensor);
  }
}

}  // namespace tidemark::dataflow
