// Turns a tape's ids into the plain words of answers.
#pragma once

#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/replay/live_set.h"

namespace tidemark {

// The place is the event's own: its scope, operator and source line.
When describe(const Tables& tables, const Moment& at, const Event& event);
When describe(const Tables& tables, const Birth& born);
StorageFact describe(const Tables& tables, const LiveStorage& storage);

// Stands for an operator that has no name.
inline constexpr const char* kNoOperator = "(none)";

const std::string& device_name(const Tables& tables, DeviceId device);

}  // namespace tidemark
