// Answers as JSON for machines: the same content as the text. docs/formats/json.md is the contract.
#pragma once

#include <string>

#include "tidemark/engine/answers/catalogue.h"
#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

// Stands in every report as "schema_version"; raised by every change that could break a reader.
inline constexpr int kJsonSchemaVersion = 2;

// json_report of every answer in the catalogue, each defined in its own file.
#define TIDEMARK_JSON_REPORT(Answer) std::string json_report(const Answer& answer);
TIDEMARK_ANSWERS(TIDEMARK_JSON_REPORT)
#undef TIDEMARK_JSON_REPORT
std::string json_report(const Diagnostics& diagnostics);

}  // namespace tidemark
