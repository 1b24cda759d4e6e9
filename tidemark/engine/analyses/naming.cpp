// Looks names up in the tables.
#include "tidemark/engine/analyses/naming.h"

namespace tidemark {

When describe(const Tables& tables, const Birth& born) {
  return {.event = born.at.event,
          .time_ns = born.at.time_ns,
          .step = born.at.step,
          .phase = born.phase,
          .scope = std::string(tables.scope_path(born.scope)),
          .op = std::string(tables.op_name(born.call)),
          .source = tables.source(born.stack)};
}

When describe(const Tables& tables, const Moment& at, const Event& event) {
  return describe(tables, Birth{at, event.scope, event.stack, event.call, event.phase});
}

StorageFact describe(const Tables& tables, const LiveStorage& storage) {
  return {.storage = storage.storage.value,
          .allocated_bytes = storage.state.charged,
          .requested_bytes = storage.state.bytes(),
          .category = storage.state.category(),
          .device = device_name(tables, storage.state.device()),
          .born = describe(tables, storage.born)};
}

const std::string& device_name(const Tables& tables, DeviceId device) {
  return tables.devices()[device.value].name;
}

}  // namespace tidemark
