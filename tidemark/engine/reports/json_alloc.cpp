// Settings of the allocator as JSON.
#include "tidemark/engine/answers/alloc.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

void write_outcome(JsonWriter& json, const SettingOutcome& outcome) {
  json.begin_object();
  json.member("settings", outcome.settings);
  write_allocator(json, outcome.peak);
  json.member_if_known("retries", outcome.retries.value_or(-1));
  json.member_if_known("failures", outcome.failures.value_or(-1));
  json.end_object();
}

void write_device(JsonWriter& json, const DeviceSettings& device) {
  json.begin_object();
  json.member("device", device.device);
  json.key("outcomes");
  json.begin_array();
  for (const SettingOutcome& outcome : device.outcomes) write_outcome(json, outcome);
  json.end_array();
  json.member_if_known("best", device.best);
  json.member("saved_bytes", device.saved_bytes);
  json.end_object();
}

}  // namespace

void write_allocator(JsonWriter& json, const AllocatorPeak& peak) {
  json.key("allocator");
  json.begin_object();
  json.member("allocated_bytes", peak.allocated_bytes);
  json.member("active_bytes", peak.active_bytes);
  json.member("reserved_bytes", peak.reserved_bytes);
  json.member("fragmented_bytes", peak.fragmented_bytes);
  json.member("reserved_peak_bytes", peak.reserved_peak_bytes);
  write_moment(json, "reserved_at", peak.reserved_at);
  json.end_object();
}

std::string json_report(const AllocAnswer& answer) {
  JsonWriter json;
  begin_report(json, "alloc");
  json.member_if_known("room_bytes", answer.room_bytes.value_or(-1));
  json.key("devices");
  json.begin_array();
  for (const DeviceSettings& device : answer.devices) write_device(json, device);
  json.end_array();
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
