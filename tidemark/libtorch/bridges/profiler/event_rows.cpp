// Walks the tree without calling itself: a program's calls may be deeper than our stack.
#include "tidemark/libtorch/bridges/profiler/event_rows.h"

#include <algorithm>
#include <unordered_set>

namespace tidemark::profiler {

std::vector<PlacedEvent> rows_of(const TorchEvents& roots) {
  std::vector<PlacedEvent> rows, waiting;
  const auto wait_for = [&](const TorchEvents& events, dataflow::EventId parent) {
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      __builtin_prefetch(&(*event)->children_);
      waiting.push_back({event->get(), parent});
    }
  };
  wait_for(roots, {});
  while (!waiting.empty()) {
    rows.push_back(waiting.back());
    waiting.pop_back();
    wait_for(rows.back().event->children_,
             dataflow::EventId(static_cast<std::uint32_t>(rows.size() - 1)));
  }
  return rows;
}

void fetch_ahead(const std::vector<PlacedEvent>& rows, std::size_t row) {
  constexpr std::size_t kAhead = 12, kLine = 64;
  if (row + kAhead >= rows.size()) return;
  const auto* bytes = reinterpret_cast<const char*>(rows[row + kAhead].event);
  for (std::size_t at = 0; at < sizeof(TorchEvent); at += kLine) __builtin_prefetch(bytes + at);
}

std::vector<CalledModule> called_modules(const TorchEvents& roots) {
  using namespace torch::profiler::impl;
  struct Call {
    std::int64_t start_ns;
    const NNModuleInfo* module;
  };
  std::vector<Call> calls;
  for (const PlacedEvent& row : rows_of(roots)) {
    const auto* call = std::get_if<ExtraFields<EventType::PyCall>>(&row.event->extra_fields_);
    if (call && call->module_) calls.push_back({row.event->start_time_ns_, &*call->module_});
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Call& a, const Call& b) { return a.start_ns < b.start_ns; });
  std::vector<CalledModule> found;
  std::unordered_set<std::uint64_t> known;
  for (const Call& call : calls) {
    const std::uint64_t address = address_of(call.module->self_.value_of());
    if (known.insert(address).second) found.push_back({address, call.module->cls_name_.str()});
  }
  return found;
}

}  // namespace tidemark::profiler
