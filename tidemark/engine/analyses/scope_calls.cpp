// Adds one call to a sum; a single call's row is a sum of one.
#include "tidemark/engine/analyses/scope_calls.h"

#include <algorithm>

#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/base/saturating.h"

namespace tidemark {
namespace {

void add_device(ScopeBytes& sum, const DeviceSpan& call, bool is_first) {
  if (is_first) sum.before = call.before;
  sum.after = call.after;
  sum.grown = add_saturating(sum.grown, subtract_saturating(call.after, call.before));
  if (sum.peak_event >= 0 && call.peak.allocated <= sum.peak) return;
  sum.peak = call.peak.allocated;
  sum.peak_categories = call.peak.by_category;
  sum.peak_event = call.peak_event;
}

// Calls come in the order of their ends, so the first to begin may come late.
void add_call(ScopeCalls& sum, const ScopeSpan& call, std::int64_t number) {
  const bool is_first = sum.calls == 0 || call.begin.event < sum.first_event;
  if (is_first) sum.first_event = call.begin.event;
  if (sum.calls++ == 0) sum.first_call = number;
  sum.phase = call.phase;
  sum.last_event = call.end.event;
  sum.input_bytes = add_saturating(sum.input_bytes, call.input_bytes);
  sum.output_bytes = add_saturating(sum.output_bytes, call.output_bytes);
  sum.devices.resize(std::max(sum.devices.size(), call.devices.size()));
  for (std::size_t d = 0; d < call.devices.size(); ++d)
    add_device(sum.devices[d], call.devices[d], is_first);
}

ScopeCalls& sum_of(std::vector<ScopeCalls>& phases, Phase phase) {
  for (ScopeCalls& sum : phases)
    if (sum.phase == phase) return sum;
  phases.emplace_back().phase = phase;
  return phases.back();
}

bool has_bytes(const ScopeBytes& bytes) {
  return bytes.before != 0 || bytes.after != 0 || bytes.peak != 0;
}

}  // namespace

void ScopeCallSums::add(const ScopeSpan& span) {
  if (span.scope.value >= records_.size())
    records_.resize(std::max<std::size_t>(span.scope.value + 1, records_.size() * 2));
  ScopeRecord& record = records_[span.scope.value];
  const std::int64_t number = ++record.ended[static_cast<std::size_t>(span.phase)];
  if (!is_chosen(step_, span.begin.step)) return;
  add_call(sum_of(record.phases, span.phase), span, number);
  if (keeps_calls_) add_call(record.calls.emplace_back(), span, number);
}

ScopeCalls named(const ScopeCalls& calls, const std::optional<std::string>& device,
                 const Tables& tables) {
  ScopeCalls result = calls;
  result.devices.clear();
  for (std::size_t d = 0; d < calls.devices.size(); ++d) {
    const DeviceId id(static_cast<DeviceId::rep>(d));
    if (!has_bytes(calls.devices[d]) || !is_chosen(device, tables, id)) continue;
    result.devices.push_back(calls.devices[d]);
    result.devices.back().device = device_name(tables, id);
  }
  return result;
}

}  // namespace tidemark
