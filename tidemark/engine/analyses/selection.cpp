// Checks of a selection against a tape.
#include "tidemark/engine/analyses/selection.h"

#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

std::string list_devices(const Tables& tables) {
  if (tables.devices().empty()) return "the tape has no device";
  std::string list = "the tape has";
  const char* before = " ";
  for (const Device& device : tables.devices()) {
    list.append(before).append(device.name);
    before = ", ";
  }
  return list;
}

std::string list_steps(std::int64_t last) {
  if (last == 0) return "the tape has only step 0: what comes before step 1";
  return "the tape has steps 0 to " + std::to_string(last);
}

}  // namespace

void check_device(const std::optional<std::string>& device, const Tape& tape) {
  if (!device || tape.tables().find_device(*device)) return;
  throw Error(ErrorCode::NotFound, "no device \"" + *device + "\"", {},
              list_devices(tape.tables()));
}

void check_selection(const Selection& selection, const Tape& tape) {
  check_device(selection.device, tape);
  if (!selection.step || (*selection.step >= 0 && *selection.step <= tape.step_count())) return;
  throw Error(ErrorCode::NotFound, "no step " + std::to_string(*selection.step), {},
              list_steps(tape.step_count()));
}

bool is_chosen(const std::optional<std::string>& device, const Tables& tables, DeviceId id) {
  return !device || *device == device_name(tables, id);
}

}  // namespace tidemark
