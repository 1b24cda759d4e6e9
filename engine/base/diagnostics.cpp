// Counts problems by code.
#include "tidemark/base/diagnostics.h"

#include <algorithm>

#include "tidemark/base/saturating.h"

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
  auto known = std::find_if(all_.begin(), all_.end(), [&](auto& d) { return d.code == code; });
  if (known != all_.end()) {
    known->count = add_saturating(known->count, count);
    return;
  }
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
  auto known = std::find_if(all_.begin(), all_.end(), [&](auto& d) { return d.code == code; });
  return known == all_.end() ? nullptr : &*known;
}

}  // namespace tidemark
