// The verdict and its budget as JSON.
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

void write_budget(JsonWriter& json, const std::vector<BudgetItem>& budget) {
  json.key("budget");
  json.begin_array();
  for (const BudgetItem& item : budget) {
    json.begin_object(JsonShape::Flat);
    json.member("name", item.name);
    json.member("bytes", item.bytes);
    json.member("evidence", name_of(item.evidence));
    json.member("reason", item.reason);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_gpu(JsonWriter& json, const GpuFacts& gpu) {
  json.key("gpu");
  json.begin_object(JsonShape::Flat);
  json.member_if_known("name", gpu.name);
  json.member("memory_bytes", gpu.memory_bytes);
  json.member_if_known("capability", gpu.capability);
  json.end_object();
}

void write_answer(JsonWriter& json, const VerdictAnswer& answer) {
  json.member("verdict", name_of(answer.verdict));
  json.key("fits");
  json.boolean_if_known(answer.fits());
  json.member_if_known("reason", answer.reason);
  json.member_if_known("device", answer.device);
  json.member("tensor_bytes", answer.tensor_bytes);
  json.member("max_allocated_bytes", answer.max_allocated_bytes);
  json.member("max_reserved_bytes", answer.max_reserved_bytes);
  json.member("budget_bytes", answer.budget_bytes);
  json.member("budget_error_bytes", answer.budget_error_bytes);
  json.key("uncompiled");
  json.boolean(answer.is_uncompiled);
  json.key("partial");
  json.boolean(answer.is_partial);
  json.member("rank", answer.rank);
  json.member("world_size", answer.world_size);
  json.member_if_known("ranks_alike", answer.ranks_alike);
  write_gpu(json, answer.gpu);
  write_budget(json, answer.budget);
}

std::string json_report(const VerdictAnswer& answer) {
  JsonWriter json;
  begin_report(json, "verdict");
  write_answer(json, answer);
  return end_report(json, answer.diagnostics);
}

std::string json_report(const VerdictsAnswer& answer) {
  JsonWriter json;
  begin_report(json, "verdicts");
  json.key("verdicts");
  json.begin_array();
  for (const VerdictAnswer& one : answer.verdicts) {
    json.begin_object();
    write_answer(json, one);
    json.end_object();
  }
  json.end_array();
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
