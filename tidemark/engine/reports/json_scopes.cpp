// Scopes as JSON.
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

void write_bytes(JsonWriter& json, const ScopeBytes& bytes) {
  json.begin_object(JsonShape::Flat);
  json.member("device", bytes.device);
  json.member("before", bytes.before);
  json.member("after", bytes.after);
  json.member("peak", bytes.peak);
  json.member("grown", bytes.grown);
  write_categories(json, "peak_categories", bytes.peak_categories);
  json.member_if_known("peak_event", bytes.peak_event);
  json.end_object();
}

void write_calls(JsonWriter& json, std::string_view key, const std::vector<ScopeCalls>& rows) {
  json.key(key);
  json.begin_array();
  for (const ScopeCalls& row : rows) {
    json.begin_object();
    json.member("phase", name_of(row.phase));
    json.member("calls", row.calls);
    json.member("first_call", row.first_call);
    json.member_if_known("first_event", row.first_event);
    json.member_if_known("last_event", row.last_event);
    json.member("input_bytes", row.input_bytes);
    json.member("output_bytes", row.output_bytes);
    json.key("devices");
    json.begin_array();
    for (const ScopeBytes& bytes : row.devices) write_bytes(json, bytes);
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_answer(JsonWriter& json, const ScopesAnswer& answer) {
  json.key("scopes");
  json.begin_array();
  for (const ScopeFacts& scope : answer.scopes) {
    json.begin_object();
    json.member("path", scope.path);
    json.member("depth", static_cast<std::int64_t>(scope.depth));
    json.member("parameter_bytes", scope.parameter_bytes);
    json.member("buffer_bytes", scope.buffer_bytes);
    write_calls(json, "phases", scope.phases);
    write_calls(json, "calls", scope.calls);
    json.end_object();
  }
  json.end_array();
}

std::string json_report(const ScopesAnswer& answer) {
  JsonWriter json;
  begin_report(json, "scopes");
  write_answer(json, answer);
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
