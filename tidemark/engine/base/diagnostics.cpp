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

void Diagnostics::add(std::string_view code, Severity severity, std::string where,
                      std::string message, std::int64_t count) {
  auto known = index_.find(code);
  if (known != index_.end()) {
    std::int64_t& sum = all_[known->second].count;
    sum = add_saturating(sum, count);
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

const Diagnostic* Diagnostics::find(std::string_view code) const {
  auto known = index_.find(code);
  return known == index_.end() ? nullptr : &all_[known->second];
}

}  // namespace tidemark
