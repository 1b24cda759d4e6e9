// Narrowing an answer down to a device and a step.
#pragma once

#include <optional>
#include <string>

#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// What every analysis lets the caller narrow down.
struct Selection {
  std::optional<std::string> device;  // only this device
  std::optional<std::int64_t> step;   // only what happens in this step
};

// Throws Error(NotFound), naming the devices there are, for one the tape does not have.
void check_device(const std::optional<std::string>& device, const Tape& tape);
// The same for a step too.
void check_selection(const Selection& selection, const Tape& tape);

// By name, since a live run may name its devices after the accumulator was made.
bool is_chosen(const std::optional<std::string>& device, const Tables& tables, DeviceId id);

inline bool is_chosen(const std::optional<std::int64_t>& chosen, std::int64_t step) {
  return !chosen || *chosen == step;
}

}  // namespace tidemark
