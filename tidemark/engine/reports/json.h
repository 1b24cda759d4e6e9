// Answers as JSON for machines: the same content as the text. docs/formats/json.md is the contract.
#pragma once

#include <string>

#include "tidemark/engine/answers/diff.h"
#include "tidemark/engine/answers/leaks.h"
#include "tidemark/engine/answers/lifetimes.h"
#include "tidemark/engine/answers/overview.h"

namespace tidemark {

// Stands in every report as "schema_version"; raised by every change that could break a reader.
inline constexpr int kJsonSchemaVersion = 2;

std::string json_report(const Overview& answer);
std::string json_report(const PeakAnswer& answer);
std::string json_report(const ScopesAnswer& answer);
std::string json_report(const TimelineAnswer& answer);
std::string json_report(const VerdictAnswer& answer);
std::string json_report(const VerdictsAnswer& answer);
std::string json_report(const LifetimesAnswer& answer);
std::string json_report(const LeaksAnswer& answer);
std::string json_report(const DiffAnswer& answer);
std::string json_report(const Diagnostics& diagnostics);

}  // namespace tidemark
