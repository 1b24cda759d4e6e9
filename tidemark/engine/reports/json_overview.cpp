// The first look as JSON: the verdict, the run, and the three answers it is made of, side by side.
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

// No member is ever left out: a run that knows of no GPU has nulls.
void write_verdict(JsonWriter& json, const std::optional<VerdictAnswer>& verdict) {
  json.member_if_known("verdict", verdict ? name_of(verdict->verdict) : "");
  json.key("fits");
  json.boolean_if_known(verdict ? verdict->fits() : std::nullopt);
  json.key("judgement");
  if (!verdict) return json.null();
  json.begin_object();
  write_answer(json, *verdict);
  json.end_object();
}

void write_out_of_memory(JsonWriter& json, const std::optional<OutOfMemory>& first) {
  json.key("out_of_memory");
  if (!first) return json.null();
  json.begin_object();
  json.member("device", first->device);
  json.member("wanted_bytes", first->wanted_bytes);
  json.member("allocated_bytes", first->allocated_bytes);
  write_moment(json, "at", first->at);
  json.end_object();
}

void write_run(JsonWriter& json, const RunFacts& run) {
  json.key("run");
  json.begin_object();
  json.member_if_known("kind", run.kind);
  json.member("ended", name_of(run.end));
  json.member_if_known("failure", run.failure);
  json.member_if_known("later_failure", run.later_failure);
  json.member_if_known("steps", run.steps.value_or(-1));
  json.member("optimizers", run.optimizers);
  json.key("further_seconds");
  json.real(run.further_seconds);
  json.member("ops", run.ops);
  json.key("wall_seconds");
  json.real(run.wall_seconds);
  json.member_if_known("torch_version", run.torch_version);
  json.member_if_known("allocator_settings", run.allocator_settings);
  json.member("rank", run.rank);
  json.member("world_size", run.world_size);
  json.member_if_known("ranks_alike", run.ranks_alike);
  write_gpu(json, run.gpu);
  write_out_of_memory(json, run.out_of_memory);
  json.end_object();
}

}  // namespace

std::string json_report(const Overview& answer) {
  JsonWriter json;
  begin_report(json, "report");
  write_verdict(json, answer.verdict);
  write_run(json, answer.run);
  json.key("not_covered");
  json.begin_array();
  for (const std::string& sentence : answer.not_covered) json.text(sentence);
  json.end_array();
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
