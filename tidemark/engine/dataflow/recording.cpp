// The table of devices of a recording.
#include "tidemark/engine/dataflow/recording.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"

namespace tidemark::dataflow {

DeviceId Recording::device(std::string_view name) {
  const auto found = std::find(devices.begin(), devices.end(), name);
  const auto row = static_cast<std::size_t>(found - devices.begin());
  if (found != devices.end()) return device_numbered(row);
  if (row == DeviceId::kNone) throw Error(ErrorCode::BadArgument, "more than 255 devices");
  devices.emplace_back(name);
  return device_numbered(row);
}

}  // namespace tidemark::dataflow
