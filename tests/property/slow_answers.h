// Slow versions of what several analyses answer about a tape.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/property/random_tape.h"
#include "tests/property/slow_run.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/parts.h"

namespace tidemark::test {

// The first highest moment of a device among the events of a step (or of all); none when empty.
std::optional<std::int64_t> slow_peak_event(const SlowRun& run, std::size_t device,
                                            const std::optional<std::int64_t>& step = {});

// The last moment that labels of the peak may come at: until a storage of the device is born, dies
// or is resized, or the step is over.
std::int64_t slow_end_of_peak(const SlowRun& run, std::size_t device, std::int64_t peak_event,
                              const std::optional<std::int64_t>& step = {});

// The first highest moment of a device within a span, begin and end included.
struct SlowHigh {
  std::int64_t event = 0, allocated = 0;
};
SlowHigh slow_peak_inside(const SlowRun& run, const SlowSpan& span, std::size_t device);

bool is_in_step(const SlowRun& run, std::int64_t event, const std::optional<std::int64_t>& step);

// Fails unless the answer's place is that of this event.
void expect_when(const When& found, const SlowRun& run, std::int64_t event);

// A step of the tape or none, and a device of the tape or none, by chance.
Selection random_selection(Random& choices, const Tape& tape);

}  // namespace tidemark::test
