// Adds one call to a sum; a single call's row is a sum of one.
#include "tidemark/engine/analyses/scope_calls.h"

#include <algorithm>

#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/base/saturating.h"

namespace tidemark {
namespace {

// Of equal peaks the first is told, and a call that ends later may have it.
void add_peak(ScopeBytes& sum, const DeviceSpan& call) {
  const bool is_first = call.peak.allocated == sum.peak && call.peak_event < sum.peak_event;
  if (sum.peak_event >= 0 && call.peak.allocated <= sum.peak && !is_first) return;
  sum.peak = call.peak.allocated;
  sum.peak_categories = call.peak.by_category;
  sum.peak_event = call.peak_event;
}

// A device without a row in the call was empty all the while.
void add_device(ScopeBytes& sum, const DeviceSpan* call, bool is_first) {
  const std::int64_t before = call ? call->before : 0, after = call ? call->after : 0;
  if (is_first) sum.before = before;
  sum.after = after;
  sum.grown = add_saturating(sum.grown, subtract_saturating(after, before));
  if (call) add_peak(sum, *call);
}

// Both lists are in the order of device numbers.
void add_devices(std::vector<CallSum::OnDevice>& sums, const std::vector<DeviceSpan>& call,
                 bool is_first) {
  auto row = call.begin();
  for (std::size_t i = 0; i < sums.size() || row != call.end(); ++i) {
    if (i == sums.size() || (row != call.end() && row->device < sums[i].device))
      sums.insert(sums.begin() + static_cast<std::ptrdiff_t>(i), {row->device, {}});
    const bool has_row = row != call.end() && row->device == sums[i].device;
    add_device(sums[i].bytes, has_row ? &*row++ : nullptr, is_first);
  }
}

// Calls come in the order of their ends, so the first to begin may come late.
void add_call(CallSum& to, const ScopeSpan& call, std::int64_t number) {
  ScopeCalls& sum = to.calls;
  const bool is_first = sum.calls == 0 || call.begin.event < sum.first_event;
  if (is_first) sum.first_event = call.begin.event;
  if (sum.calls++ == 0) sum.first_call = number;
  sum.phase = call.phase;
  sum.last_event = call.end.event;
  sum.input_bytes = add_saturating(sum.input_bytes, call.input_bytes);
  sum.output_bytes = add_saturating(sum.output_bytes, call.output_bytes);
  add_devices(to.devices, call.devices, is_first);
}

CallSum& sum_of(std::vector<CallSum>& phases, Phase phase) {
  for (CallSum& sum : phases)
    if (sum.calls.phase == phase) return sum;
  phases.emplace_back().calls.phase = phase;
  return phases.back();
}

}  // namespace

void ScopeCallSums::add(const ScopeSpan& span) {
  if (!span.scope) return;
  if (span.scope.value >= records_.size())
    records_.resize(std::max<std::size_t>(span.scope.value + 1, records_.size() * 2));
  ScopeRecord& record = records_[span.scope.value];
  const std::int64_t number = ++record.ended[static_cast<std::size_t>(span.phase)];
  if (!is_chosen(step_, span.begin.step)) return;
  add_call(sum_of(record.phases, span.phase), span, number);
  if (keeps_calls_) add_call(record.calls.emplace_back(), span, number);
}

ScopeCalls named(const CallSum& sum, const std::optional<std::string>& device,
                 const Tables& tables) {
  ScopeCalls result = sum.calls;
  for (const auto& [id, bytes] : sum.devices) {
    if (!is_chosen(device, tables, id)) continue;
    result.devices.push_back(bytes);
    result.devices.back().device = device_name(tables, id);
  }
  return result;
}

}  // namespace tidemark
