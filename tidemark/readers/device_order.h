// The devices of a trace as rows of a tape's tables: accelerators before the processor.
#pragma once

#include <string>
#include <vector>

#include "tidemark/engine/tape/tables.h"

namespace tidemark {

// By place in `names`. Reports begin with the first device, and nobody asks for the processor's
// memory first.
inline std::vector<DeviceId> add_devices(Tables& tables, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!name.starts_with("cpu")) tables.device(name);
  std::vector<DeviceId> devices;
  for (const std::string& name : names) devices.push_back(tables.device(name));
  return devices;
}

}  // namespace tidemark
