// The peak as JSON.
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

void write_device(JsonWriter& json, const DevicePeak& peak) {
  json.begin_object();
  json.member("device", peak.device);
  json.member("allocated_bytes", peak.allocated_bytes);
  json.member("requested_bytes", peak.requested_bytes);
  write_moment(json, "at", peak.at);
  write_categories(json, "categories", peak.categories);
  json.member("alive_count", peak.alive_count);
  json.key("largest");
  json.begin_array();
  for (const StorageFact& fact : peak.largest) {
    json.begin_object(JsonShape::Flat);
    write_storage(json, fact);
    json.end_object();
  }
  json.end_array();
  json.key("owners");
  json.begin_array();
  for (const ScopeShare& share : peak.owners) {
    json.begin_object(JsonShape::Flat);
    json.member_if_known("scope", share.scope);
    json.member("allocated_bytes", share.allocated_bytes);
    write_categories(json, "categories", share.categories);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

void write_answer(JsonWriter& json, const PeakAnswer& answer) {
  json.member("events", answer.events);
  json.member("steps", answer.steps);
  json.key("devices");
  json.begin_array();
  for (const DevicePeak& peak : answer.devices) write_device(json, peak);
  json.end_array();
}

std::string json_report(const PeakAnswer& answer) {
  JsonWriter json;
  begin_report(json, "peak");
  write_answer(json, answer);
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
