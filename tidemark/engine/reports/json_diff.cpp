// The difference of two tapes as JSON.
#include "tidemark/engine/answers/diff.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

void write_difference(JsonWriter& json, const Difference& difference) {
  json.begin_object(JsonShape::Flat);
  json.member("name", difference.name);
  json.member("before", difference.before);
  json.member("after", difference.after);
  json.end_object();
}

void write_differences(JsonWriter& json, std::string_view key,
                       const std::vector<Difference>& differences) {
  json.key(key);
  json.begin_array();
  for (const Difference& difference : differences) write_difference(json, difference);
  json.end_array();
}

}  // namespace

std::string json_report(const DiffAnswer& answer) {
  JsonWriter json;
  begin_report(json, "diff");
  json.key("same");
  json.boolean(answer.same);
  json.key("devices");
  json.begin_array();
  for (const DeviceDiff& device : answer.devices) {
    json.begin_object();
    json.member("device", device.device);
    json.key("peak");
    write_difference(json, device.peak);
    write_differences(json, "categories", device.categories);
    write_differences(json, "scopes", device.scopes);
    write_differences(json, "ops", device.ops);
    json.end_object();
  }
  json.end_array();
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
