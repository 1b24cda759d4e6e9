// Lifetimes in words: groups of storages that live alike, then the heaviest ones.
#include <algorithm>

#include "tidemark/engine/answers/lifetimes.h"
#include "tidemark/engine/reports/table.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

void add_groups(Page& page, const LifetimesAnswer& answer) {
  page.heading("By category and life");
  Table table({{"category"},
               {"life"},
               {"storages", Align::Right},
               {"bytes", Align::Right},
               {"largest", Align::Right},
               {"mean events", Align::Right}});
  for (const LifetimeGroup& group : answer.groups)
    table.add({std::string(name_of(group.category)), std::string(name_of(group.span)),
               format_count(group.count), page.bytes(group.allocated_bytes),
               page.bytes(group.largest_bytes), format_count(group.mean_events)});
  table.draw(page);
}

bool has_several_devices(const std::vector<Lifetime>& lives) {
  return std::any_of(lives.begin(), lives.end(), [&](const Lifetime& life) {
    return life.storage.device != lives.front().storage.device;
  });
}

void add_heaviest(Page& page, const LifetimesAnswer& answer) {
  page.heading("Heaviest storages: most bytes for longest");
  const bool with_device = has_several_devices(answer.heaviest);
  std::vector<TableColumn> columns = {
      {"id"},           {"bytes", Align::Right},  {"category"},
      {"life"},         {"events", Align::Right}, {"time", Align::Right},
      {"born in step"}, {"died in step"},         {"where"}};
  if (with_device) columns.push_back({"device"});
  Table table(std::move(columns));
  for (const Lifetime& life : answer.heaviest) {
    const StorageFact& fact = life.storage;
    table.add({storage_name(fact.storage), page.bytes(fact.allocated_bytes),
               std::string(name_of(fact.category)), std::string(name_of(life.span)),
               format_count(life.events), format_duration(life.time_ns),
               stage_words(fact.born.step, fact.born.phase),
               life.died ? stage_words(life.died->step, life.died->phase) : "-",
               place_words(fact.born.scope, fact.born.op, fact.born.source), fact.device});
  }
  table.draw(page);
}

}  // namespace

std::string text_report(const LifetimesAnswer& answer, const TextStyle& style) {
  Page page(style);
  if (answer.storages == 0) page.line("No memory was allocated.");
  else page.line(counted(answer.storages, "storage"), Ink::Bold);
  if (!answer.groups.empty()) add_groups(page, answer);
  if (!answer.heaviest.empty()) add_heaviest(page, answer);
  add_notes(page, answer.diagnostics);
  return page.take();
}

}  // namespace tidemark
