// Lifetimes as JSON.
#include "tidemark/engine/answers/lifetimes.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

void write_group(JsonWriter& json, const LifetimeGroup& group) {
  json.begin_object(JsonShape::Flat);
  json.member("category", name_of(group.category));
  json.member("span", name_of(group.span));
  json.member("count", group.count);
  json.member("allocated_bytes", group.allocated_bytes);
  json.member("largest_bytes", group.largest_bytes);
  json.member("mean_events", group.mean_events);
  json.end_object();
}

void write_life(JsonWriter& json, const Lifetime& life) {
  json.begin_object();
  json.key("storage");
  json.begin_object();
  write_storage(json, life.storage);
  json.end_object();
  if (life.died) {
    write_moment(json, "died", *life.died);
  } else {
    json.key("died");
    json.null();
  }
  json.member("events", life.events);
  json.member("time_ns", life.time_ns);
  json.member("span", name_of(life.span));
  json.end_object();
}

}  // namespace

std::string json_report(const LifetimesAnswer& answer) {
  JsonWriter json;
  begin_report(json, "lifetimes");
  json.member("storages", answer.storages);
  json.key("groups");
  json.begin_array();
  for (const LifetimeGroup& group : answer.groups) write_group(json, group);
  json.end_array();
  json.key("heaviest");
  json.begin_array();
  for (const Lifetime& life : answer.heaviest) write_life(json, life);
  json.end_array();
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
