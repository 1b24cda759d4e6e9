// Moments, categories, storages and diagnostics as JSON.
#include "tidemark/engine/reports/json_parts.h"

#include "tidemark/engine/base/category.h"
#include "tidemark/engine/reports/json.h"

namespace tidemark {

void begin_report(JsonWriter& json, std::string_view report) {
  json.begin_object();
  json.member("schema_version", kJsonSchemaVersion);
  json.member("report", report);
}

std::string end_report(JsonWriter& json, const Diagnostics& diagnostics) {
  json.key("diagnostics");
  json.begin_array();
  for (const Diagnostic& d : diagnostics.all()) {
    json.begin_object(JsonShape::Flat);
    json.member("code", d.code);
    json.member("severity", name_of(d.severity));
    json.member("count", d.count);
    json.member_if_known("where", d.where);
    json.member("message", d.message);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

void write_moment(JsonWriter& json, std::string_view key, const When& when) {
  json.key(key);
  json.begin_object(JsonShape::Flat);
  json.member_if_known("event", when.event);
  json.member("time_ns", when.time_ns);
  json.member("step", when.step);
  json.member("phase", name_of(when.phase));
  json.member_if_known("scope", when.scope);
  json.member_if_known("op", when.op);
  json.member_if_known("source", when.source);
  json.end_object();
}

void write_categories(JsonWriter& json, std::string_view key, const CategoryBytes& categories) {
  json.key(key);
  json.begin_object(JsonShape::Flat);
  for (const auto& [category, bytes] : sorted_categories(categories))
    json.member(name_of(category), bytes);
  json.end_object();
}

void write_storage(JsonWriter& json, const StorageFact& fact) {
  json.member("storage", fact.storage);
  json.member("allocated_bytes", fact.allocated_bytes);
  json.member("requested_bytes", fact.requested_bytes);
  json.member("category", name_of(fact.category));
  json.member("device", fact.device);
  write_moment(json, "born", fact.born);
}

}  // namespace tidemark
