// Words for moments, places and counts, and the notes that end every report.
#include "tidemark/engine/reports/text_parts.h"

#include <algorithm>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/layout.h"

namespace tidemark {
namespace {

// "warning: a scope never ends (scope-left-open, 2 times, first at event 3)"
void add_diagnostic(Page& page, const Diagnostic& d) {
  std::string facts = " (" + printable(d.code);
  if (d.count > 1) facts += ", " + counted(d.count, "time");
  if (!d.where.empty()) facts += (d.count > 1 ? ", first at " : ", at ") + printable(d.where);
  page.paragraph(std::string(name_of(d.severity)) + ": " + printable(d.message) + facts + ")", 2,
                 2);
}

}  // namespace

std::string moment_words(const When& when, std::size_t longest) {
  const auto short_name = [&](const std::string& name) { return elided(printable(name), longest); };
  std::string words = when.step == 0 ? "before step 1" : "at step " + std::to_string(when.step);
  if (when.phase != Phase::Other) words.append(", ").append(name_of(when.phase));
  if (!when.op.empty()) words += ", " + short_name(when.op);
  if (!when.scope.empty()) words += (when.op.empty() ? ", in " : " in ") + short_name(when.scope);
  if (!when.source.empty()) words += " (" + short_name(when.source) + ")";
  return words;
}

std::string stage_words(std::int64_t step, Phase phase) {
  std::string words = step == 0 ? "before 1" : std::to_string(step);
  if (phase != Phase::Other) words.append(" ").append(name_of(phase));
  return words;
}

std::string place_words(std::string_view scope, std::string_view op, std::string_view source) {
  std::string words;
  for (std::string_view part : {scope, op, source}) {
    if (part.empty()) continue;
    words.append(words.empty() ? "" : " ").append(part);
  }
  return words.empty() ? "-" : words;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return format_count(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

std::string range_words(std::int64_t first, std::int64_t last) {
  if (first < 0) return "-";
  return first == last ? format_count(first) : format_count(first) + "-" + format_count(last);
}

std::string storage_name(std::int64_t storage) { return "s" + std::to_string(storage); }

std::string of_device(std::string_view device, std::size_t device_count) {
  return device_count > 1 ? " of " + printable(device) : "";
}

void add_diagnostics(Page& page, const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.all()) add_diagnostic(page, d);
}

void add_notes(Page& page, const Diagnostics& diagnostics, std::size_t most) {
  if (diagnostics.empty()) return;
  page.heading("Notes");
  for (std::size_t i = 0; i < std::min(most, diagnostics.all().size()); ++i)
    add_diagnostic(page, diagnostics.all()[i]);
  if (diagnostics.all().size() > most)
    page.line("  … " + std::to_string(diagnostics.all().size() - most) + " more", Ink::Dim);
}

}  // namespace tidemark
