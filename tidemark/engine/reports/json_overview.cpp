// The first look as JSON: the three answers it is made of, side by side.
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

template <class Answer>
void write_part(JsonWriter& json, std::string_view key, const Answer& answer) {
  json.key(key);
  json.begin_object();
  write_answer(json, answer);
  json.end_object();
}

}  // namespace

std::string json_report(const Overview& answer) {
  JsonWriter json;
  begin_report(json, "report");
  json.key("meta");
  json.begin_object();
  for (const auto& [key, value] : answer.meta) json.member(key, value);
  json.end_object();
  json.member("events", answer.events);
  json.member("steps", answer.steps);
  write_part(json, "peak", answer.peak);
  write_part(json, "scopes", answer.scopes);
  write_part(json, "timeline", answer.timeline);
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
