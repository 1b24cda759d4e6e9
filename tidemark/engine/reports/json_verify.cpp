// What is wrong with a tape, as JSON.
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {

std::string json_report(const Diagnostics& diagnostics) {
  JsonWriter json;
  begin_report(json, "verify");
  json.member("problems", diagnostics.problem_count());
  return end_report(json, diagnostics);
}

}  // namespace tidemark
