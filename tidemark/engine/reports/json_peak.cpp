// The peak as JSON.
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

void write_shares(JsonWriter& json, std::string_view key, const std::vector<ScopeShare>& shares) {
  json.key(key);
  json.begin_array();
  for (const ScopeShare& share : shares) {
    json.begin_object(JsonShape::Flat);
    json.member_if_known("scope", share.scope);
    json.member("allocated_bytes", share.allocated_bytes);
    write_categories(json, "categories", share.categories);
    json.end_object();
  }
  json.end_array();
}

void write_site(JsonWriter& json, const SiteShare& site) {
  json.begin_object(JsonShape::Flat);
  json.member("count", site.count);
  json.member("each_bytes", site.each_bytes);
  json.member("allocated_bytes", site.allocated_bytes);
  json.member("category", name_of(site.category));
  json.member_if_known("shape", site.shape);
  json.member_if_known("op", site.op);
  json.member_if_known("source", site.source);
  json.member_if_known("scope", site.scope);
  json.end_object();
}

void write_line(JsonWriter& json, const LineShare& line) {
  json.begin_object(JsonShape::Flat);
  json.member_if_known("source", line.source);
  json.member("count", line.count);
  json.member("allocated_bytes", line.allocated_bytes);
  write_categories(json, "categories", line.categories);
  json.end_object();
}

void write_device(JsonWriter& json, const DevicePeak& peak) {
  json.begin_object();
  json.member("device", peak.device);
  json.member("allocated_bytes", peak.allocated_bytes);
  json.member("requested_bytes", peak.requested_bytes);
  write_moment(json, "at", peak.at);
  if (peak.allocator) write_allocator(json, *peak.allocator);
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
  write_shares(json, "owners", peak.owners);
  write_shares(json, "modules", peak.modules);
  json.key("sites");
  json.begin_array();
  for (const SiteShare& site : peak.sites) write_site(json, site);
  json.end_array();
  json.key("lines");
  json.begin_array();
  for (const LineShare& line : peak.lines) write_line(json, line);
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
