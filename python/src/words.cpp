// The enums of the engine as Python enums whose text is the engine's word.
#include "python/src/words.h"

#include <pybind11/native_enum.h>

#include "python/src/bindings.h"
#include "python/src/values.h"
#include "tidemark/engine/analyses/lifetimes.h"
#include "tidemark/engine/base/error.h"

namespace tidemark::python {
namespace {

std::string_view name_of_axis(TimelineAxis axis) {
  return axis == TimelineAxis::Events ? "events" : "time";
}

std::optional<Severity> severity_named(std::string_view name) {
  for (Severity severity : {Severity::Note, Severity::Warning, Severity::Error})
    if (name_of(severity) == name) return severity;
  return std::nullopt;
}

std::optional<TimelineAxis> axis_named(std::string_view name) {
  for (TimelineAxis axis : {TimelineAxis::Events, TimelineAxis::Time})
    if (name_of_axis(axis) == name) return axis;
  return std::nullopt;
}

template <class Enum>
Enum named(const std::variant<Enum, std::string>& word,
           std::optional<Enum> (*find)(std::string_view), const char* what, const char* hint) {
  if (const Enum* member = std::get_if<Enum>(&word)) return *member;
  const std::string& name = std::get<std::string>(word);
  if (std::optional<Enum> found = find(name)) return *found;
  throw Error(ErrorCode::BadArgument,
              std::string("unknown ") + what + " \"" + name.substr(0, 40) + "\"", {}, hint);
}

// Numbers, so that columns compare with them; but printed as words.
template <class Enum>
void speak(py::module_& module, const char* name, std::string_view (*word)(Enum)) {
  py::object type = module.attr(name);
  py::cpp_function say([word](Enum member) { return decoded(word(member)); }, py::is_method(type),
                       py::name("__str__"));
  py::cpp_function format(
      [word](Enum member, const py::str& spec) {
        return decoded(word(member)).attr("__format__")(spec);
      },
      py::is_method(type), py::name("__format__"));
  type.attr("__str__") = say;
  type.attr("__format__") = format;
}

// Category's members are named by their words; so the list stands in the engine alone.
void bind_category(py::module_& module) {
  py::native_enum<Category> category(module, "Category", "enum.IntEnum",
                                     "What a storage is at a moment.");
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const auto member = static_cast<Category>(i);
    category.value(std::string(name_of(member)).c_str(), member);
  }
  category.finalize();
  speak<Category>(module, "Category", &name_of);
}

void bind_phase(py::module_& module) {
  py::native_enum<Phase>(module, "Phase", "enum.IntEnum", "The part of a training step.")
      .value("Other", Phase::Other)
      .value("Forward", Phase::Forward)
      .value("Backward", Phase::Backward)
      .value("Recompute", Phase::Recompute)
      .value("Optimizer", Phase::Optimizer)
      .finalize();
  speak<Phase>(module, "Phase", &name_of);
}

void bind_kind(py::module_& module) {
  py::native_enum<Kind>(module, "Kind", "enum.IntEnum", "What an event says.")
      .value("Alloc", Kind::Alloc)
      .value("Free", Kind::Free)
      .value("Resize", Kind::Resize)
      .value("Relabel", Kind::Relabel)
      .value("ScopeBegin", Kind::ScopeBegin)
      .value("ScopeEnd", Kind::ScopeEnd)
      .value("CallBegin", Kind::CallBegin)
      .value("CallEnd", Kind::CallEnd)
      .value("Phase", Kind::Phase)
      .value("Step", Kind::Step)
      .value("Mark", Kind::Mark)
      .value("Input", Kind::Input)
      .value("Output", Kind::Output)
      .value("SegmentMap", Kind::SegmentMap)
      .value("SegmentUnmap", Kind::SegmentUnmap)
      .value("Block", Kind::Block)
      .value("PoolUse", Kind::PoolUse)
      .value("PoolRelease", Kind::PoolRelease)
      .value("CacheEmpty", Kind::CacheEmpty)
      .finalize();
  speak<Kind>(module, "Kind", &name_of);
}

void bind_small_enums(py::module_& module) {
  py::native_enum<Severity>(module, "Severity", "enum.IntEnum", "How bad odd data is.")
      .value("Note", Severity::Note)
      .value("Warning", Severity::Warning)
      .value("Error", Severity::Error)
      .finalize();
  speak<Severity>(module, "Severity", &name_of);
  py::native_enum<LifeSpan>(module, "LifeSpan", "enum.IntEnum", "How far a life reaches.")
      .value("WithinPhase", LifeSpan::WithinPhase)
      .value("WithinStep", LifeSpan::WithinStep)
      .value("AcrossSteps", LifeSpan::AcrossSteps)
      .value("ToTheEnd", LifeSpan::ToTheEnd)
      .finalize();
  speak<LifeSpan>(module, "LifeSpan", &name_of);
  py::native_enum<TimelineAxis>(module, "TimelineAxis", "enum.IntEnum", "A timeline's axis.")
      .value("Events", TimelineAxis::Events)
      .value("Time", TimelineAxis::Time)
      .finalize();
  speak<TimelineAxis>(module, "TimelineAxis", &name_of_axis);
}

}  // namespace

Category category_of(const CategoryWord& word) {
  return named(word, &category_named, "category",
               "as in Parameter, Gradient, Activation, OptimizerState");
}

Phase phase_of(const PhaseWord& word) {
  return named(word, &phase_named, "phase",
               "one of forward, backward, recompute, optimizer, other");
}

Severity severity_of(const SeverityWord& word) {
  return named(word, &severity_named, "severity", "one of note, warning, error");
}

TimelineAxis axis_of(const AxisWord& word) {
  return named(word, &axis_named, "axis", "one of events, time");
}

Units units_of(const std::string& name) {
  if (auto units = units_named(name)) return *units;
  throw Error(ErrorCode::BadArgument, "unknown units \"" + name.substr(0, 40) + "\"", {},
              "one of auto, B, KiB, MiB, GiB, TiB");
}

Detail detail_of(const std::string& name) {
  if (name == "brief") return Detail::Brief;
  if (name == "modules") return Detail::Modules;
  if (name == "full") return Detail::Full;
  throw Error(ErrorCode::BadArgument, "unknown detail \"" + name.substr(0, 40) + "\"", {},
              "one of brief, modules, full");
}

void bind_words(py::module_& module) {
  module.def(
      "format_bytes", [](std::int64_t bytes) { return format_bytes(bytes); }, py::arg("bytes"),
      "A byte count as reports write it: 3.71 GiB.");
  bind_category(module);
  bind_phase(module);
  bind_kind(module);
  bind_small_enums(module);
}

}  // namespace tidemark::python
