// The timeline as JSON: a point a line.
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

void write_point(JsonWriter& json, const TimelinePoint& point) {
  json.begin_object(JsonShape::Flat);
  json.member("event", point.event);
  json.member("time_ns", point.time_ns);
  json.member("step", point.step);
  json.member("phase", name_of(point.phase));
  json.member("lowest", point.lowest);
  json.member("highest", point.highest);
  write_categories(json, "categories", point.categories);
  json.end_object();
}

}  // namespace

void write_answer(JsonWriter& json, const TimelineAnswer& answer) {
  json.member("axis", answer.axis == TimelineAxis::Events ? "events" : "time");
  json.member("first", answer.first);
  json.member("last", answer.last);
  json.key("devices");
  json.begin_array();
  for (const DeviceTimeline& device : answer.devices) {
    json.begin_object();
    json.member("device", device.device);
    json.key("points");
    json.begin_array();
    for (const TimelinePoint& point : device.points) write_point(json, point);
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

std::string json_report(const TimelineAnswer& answer) {
  JsonWriter json;
  begin_report(json, "timeline");
  write_answer(json, answer);
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
