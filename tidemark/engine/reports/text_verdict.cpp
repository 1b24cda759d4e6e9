// The verdict in words, and the budget it stands on.
#include <algorithm>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/layout.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

std::string gpu_words(const Page& page, const VerdictAnswer& answer) {
  return answer.gpu.name.empty() ? "a GPU of " + page.bytes(answer.gpu.memory_bytes)
                                 : printable(answer.gpu.name);
}

std::string sentence_of(const Page& page, const VerdictAnswer& answer) {
  const std::string gpu = gpu_words(page, answer);
  const std::int64_t capacity = answer.gpu.memory_bytes;
  const std::string of_all = " of " + page.bytes(capacity);
  switch (answer.verdict) {
    case Verdict::Fits:
      return "Fits on " + gpu + (answer.is_uncompiled ? ", even uncompiled" : "") + ": needs " +
             page.bytes(answer.budget_bytes) + of_all + ", " +
             page.bytes(capacity - answer.budget_bytes) + " left.";
    case Verdict::Tight:
      return "TIGHT on " + gpu + ": the tensors fit (" + page.bytes(answer.tensor_bytes) + of_all +
             "), but with all else it needs " + page.bytes(answer.budget_bytes) + ", " +
             page.bytes(answer.budget_bytes - capacity) + " too much. It may run out of memory.";
    case Verdict::DoesNotFit:
      if (answer.tensor_bytes <= capacity)
        return "Does not fit on " + gpu + ": it ran out of its " + page.bytes(capacity) + ".";
      return "Does not fit on " + gpu + ": the tensors alone need " +
             page.bytes(answer.tensor_bytes) + of_all + ", " +
             page.bytes(answer.tensor_bytes - capacity) + " too much.";
    default: return "Cannot tell whether it fits on " + gpu + ": " + printable(answer.reason) + ".";
  }
}

// What the verdict does not stand on; nothing where there is none to trust.
std::string caveat_of(const VerdictAnswer& answer) {
  if (answer.verdict == Verdict::CannotTell || answer.verdict == Verdict::DoesNotFit) return "";
  std::string words;
  if (answer.verdict == Verdict::Tight && answer.is_uncompiled)
    words += " This is without torch.compile, which may need less.";
  if (answer.is_partial) words += " The script's end was not reached: see \"not covered\".";
  return words;
}

Ink ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Fits: return Ink::Green;
    case Verdict::DoesNotFit: return Ink::Magenta;
    default: return Ink::Yellow;
  }
}

}  // namespace

void add_verdict(Page& page, const VerdictAnswer& answer) {
  std::string sentence = sentence_of(page, answer);
  // An error's own words may end with a full stop.
  if (sentence.ends_with("..")) sentence.pop_back();
  page.paragraph(sentence + caveat_of(answer), 0, 0, ink_of(answer.verdict));
}

bool differ(const std::vector<VerdictAnswer>& rows, std::int64_t VerdictAnswer::*fact) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const VerdictAnswer& one) { return one.*fact != rows.front().*fact; });
}

// Of a table whose rows have no room for them.
void add_caveats(Page& page, const std::vector<VerdictAnswer>& gpus) {
  const auto any = [&](bool VerdictAnswer::*fact) {
    return std::any_of(gpus.begin(), gpus.end(),
                       [&](const VerdictAnswer& one) { return one.*fact; });
  };
  if (any(&VerdictAnswer::is_uncompiled))
    page.paragraph("torch.compile was left out: compiled, it may need less.", 2, 2);
  if (any(&VerdictAnswer::is_partial))
    page.paragraph("The script's end was not reached: --further SECONDS gives it longer.", 2, 2);
}

void add_out_of_memory(Page& page, const OutOfMemory& first) {
  page.paragraph("It runs out first " + moment_words(first.at, page.width()) + " on " +
                 printable(first.device) + ", asking for " + page.bytes(first.wanted_bytes) +
                 " with " + page.bytes(first.allocated_bytes) + " in use.");
}

void add_budget(Page& page, const VerdictAnswer& answer) {
  if (answer.budget.empty()) return;
  page.heading("The budget of " + printable(answer.device) + ": what nvidia-smi will show");
  Table table({{"what"}, {"bytes", Align::Right}, {"evidence"}, {"reason"}}, TableHead::None);
  for (const BudgetItem& item : answer.budget)
    table.add(
        {item.name, page.bytes(item.bytes), std::string(name_of(item.evidence)), item.reason});
  const std::string how_sure = answer.budget_error_bytes > 0
                                   ? "give or take " + page.bytes(answer.budget_error_bytes)
                                   : "of " + page.bytes(answer.gpu.memory_bytes);
  table.add({"all", page.bytes(answer.budget_bytes), "", how_sure});
  table.draw(page);
  // Where it does not fit, it will not come to that.
  const bool was_counted = answer.budget.back().evidence == Evidence::Measured;
  if (answer.max_reserved_bytes > 0 && answer.verdict != Verdict::DoesNotFit)
    page.paragraph((was_counted ? "torch.cuda counted " : "torch.cuda will count ") +
                       page.bytes(answer.max_allocated_bytes) + " allocated and " +
                       page.bytes(answer.max_reserved_bytes) + " reserved.",
                   2, 2);
}

std::string text_report(const VerdictAnswer& answer, const TextStyle& style) {
  Page page(style);
  add_verdict(page, answer);
  add_budget(page, answer);
  add_notes(page, answer.diagnostics);
  return page.take();
}

std::string text_report(const VerdictsAnswer& answer, const TextStyle& style) {
  Page page(style);
  const std::vector<VerdictAnswer>& rows = answer.verdicts;
  // What is the same in all rows is not said in each.
  const bool by_world = differ(rows, &VerdictAnswer::world_size);
  const bool by_rank = differ(rows, &VerdictAnswer::rank);
  std::vector<TableColumn> columns;
  if (by_world) columns.push_back({"ranks", Align::Right});
  if (by_rank) columns.push_back({"rank", Align::Right});
  if (by_rank) columns.push_back({"like it"});
  columns.insert(columns.end(), {{"GPU"},
                                 {"memory", Align::Right},
                                 {"tensors", Align::Right},
                                 {"with all else", Align::Right},
                                 {"verdict"}});
  Table table(columns);
  for (const VerdictAnswer& one : rows) {
    std::vector<std::string> cells;
    if (by_world) cells.push_back(format_count(one.world_size));
    if (by_rank) cells.push_back(std::to_string(one.rank));
    if (by_rank) cells.push_back(one.ranks_alike);
    cells.insert(cells.end(),
                 {one.gpu.name, page.bytes(one.gpu.memory_bytes), page.bytes(one.tensor_bytes),
                  page.bytes(one.budget_bytes), std::string(name_of(one.verdict))});
    table.add(std::move(cells));
  }
  table.draw(page);
  add_caveats(page, rows);
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
