// Counts problems by code.
#include "tidemark/engine/base/diagnostics.h"

#include <algorithm>

#include "tidemark/engine/base/saturating.h"

namespace tidemark {

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::Note: return "note";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
  }
  return "error";
}

namespace {

Severity worse_of(Severity a, Severity b) {
  for (Severity severity : {Severity::Error, Severity::Warning})
    if (a == severity || b == severity) return severity;
  return Severity::Note;
}

}  // namespace

void Diagnostics::add(std::string_view code, Severity severity, std::string where,
                      std::string message, std::int64_t count) {
  auto known = index_.find(code);
  if (known != index_.end()) {
    Diagnostic& first = all_[known->second];
    first.count = add_saturating(first.count, count);
    first.severity = worse_of(first.severity, severity);
    return;
  }
  index_.emplace(code, all_.size());
  all_.push_back({std::string(code), severity, count, std::move(where), std::move(message)});
}

void Diagnostics::add(const Diagnostics& others) {
  for (const Diagnostic& d : others.all_) add(d.code, d.severity, d.where, d.message, d.count);
}

bool Diagnostics::has_errors() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](auto& d) { return d.severity == Severity::Error; });
}

std::int64_t Diagnostics::problem_count() const {
  std::int64_t sum = 0;
  for (const Diagnostic& d : all_)
    if (is_problem(d.severity)) sum = add_saturating(sum, d.count);
  return sum;
}

template <class IsWanted>
Diagnostics Diagnostics::only(IsWanted is_wanted) const {
  Diagnostics some;
  for (const Diagnostic& d : all_)
    if (is_wanted(d)) some.add(d.code, d.severity, d.where, d.message, d.count);
  return some;
}

Diagnostics Diagnostics::problems() const {
  return only([](const Diagnostic& d) { return is_problem(d.severity); });
}

Diagnostics Diagnostics::notes() const {
  return only([](const Diagnostic& d) { return !is_problem(d.severity); });
}

const Diagnostic* Diagnostics::find(std::string_view code) const {
  auto known = index_.find(code);
  return known == index_.end() ? nullptr : &all_[known->second];
}

}  // namespace tidemark
