// Leaks as JSON.
#include "tidemark/engine/answers/leaks.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

void write_site(JsonWriter& json, const LeakSite& site) {
  json.begin_object();
  json.member("device", site.device);
  json.member_if_known("scope", site.scope);
  json.member_if_known("op", site.op);
  json.member_if_known("source", site.source);
  json.member("category", name_of(site.category));
  json.member("count", site.count);
  json.member("allocated_bytes", site.allocated_bytes);
  json.member("steps", site.steps);
  json.member("bytes_per_step", site.bytes_per_step);
  json.member("first_step", site.first_step);
  json.member("last_step", site.last_step);
  json.end_object();
}

void write_level(JsonWriter& json, const StepLevel& level) {
  json.begin_object(JsonShape::Flat);
  json.member("device", level.device);
  json.member("step", level.step);
  json.member("allocated_bytes", level.allocated_bytes);
  json.end_object();
}

}  // namespace

std::string json_report(const LeaksAnswer& answer) {
  JsonWriter json;
  begin_report(json, "leaks");
  json.key("enough_steps");
  json.boolean(answer.enough_steps);
  json.member("finished_steps", answer.finished_steps);
  json.member("leaked_bytes", answer.leaked_bytes);
  json.key("sites");
  json.begin_array();
  for (const LeakSite& site : answer.sites) write_site(json, site);
  json.end_array();
  json.key("levels");
  json.begin_array();
  for (const StepLevel& level : answer.levels) write_level(json, level);
  json.end_array();
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
