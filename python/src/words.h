// Words a caller may say as an enum's member or by name.
#pragma once

#include <string>
#include <variant>

#include "tidemark/engine/analyses/timeline.h"
#include "tidemark/engine/base/category.h"
#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/base/units.h"
#include "tidemark/engine/reports/text.h"

namespace tidemark::python {

using CategoryWord = std::variant<Category, std::string>;
using PhaseWord = std::variant<Phase, std::string>;
using SeverityWord = std::variant<Severity, std::string>;
using AxisWord = std::variant<TimelineAxis, std::string>;

// Each throws Error(BadArgument) for a name that is none of ours.
Category category_of(const CategoryWord& word);
Phase phase_of(const PhaseWord& word);
Severity severity_of(const SeverityWord& word);
TimelineAxis axis_of(const AxisWord& word);
Units units_of(const std::string& name);
Detail detail_of(const std::string& name);

}  // namespace tidemark::python
