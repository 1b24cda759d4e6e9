// Asks both tapes the same questions and sets the answers side by side.
#include "tidemark/engine/analyses/diff.h"

#include <algorithm>
#include <limits>
#include <map>

#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/analyses/scopes.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/natural_order.h"
#include "tidemark/engine/base/saturating.h"

namespace tidemark {
namespace {

// What is compared of one tape.
struct Side {
  PeakAnswer peak;
  ScopesAnswer scopes;
};

using BytesByName = std::map<std::string, std::int64_t>;

// All devices, also when one is chosen: the other tape may not have it.
Side ask(const Tape& tape, const DiffOptions& options) {
  PeakOptions peak;
  peak.step = options.step;
  peak.top = std::numeric_limits<std::size_t>::max();
  ScopesOptions scopes;
  scopes.step = options.step;
  check_selection(peak, tape);
  auto [peaks, calls] = feed(tape, PeakObserver(peak), ScopesObserver(scopes));
  return {std::move(peaks), std::move(calls)};
}

const DevicePeak& peak_on(const std::string& device, const Side& side) {
  static const DevicePeak kEmpty;
  for (const DevicePeak& peak : side.peak.devices)
    if (peak.device == device) return peak;
  return kEmpty;
}

BytesByName bytes_by_op(const DevicePeak& peak) {
  BytesByName bytes;
  for (const StorageFact& storage : peak.largest) {
    std::int64_t& sum = bytes[storage.born.op.empty() ? kNoOperator : storage.born.op];
    sum = add_saturating(sum, storage.allocated_bytes);
  }
  return bytes;
}

BytesByName peaks_by_scope(const std::string& device, const Side& side) {
  BytesByName peaks;
  for (const ScopeFacts& scope : side.scopes.scopes)
    for (const ScopeCalls& phase : scope.phases)
      for (const ScopeBytes& bytes : phase.devices)
        if (bytes.device == device) peaks[scope.path] = std::max(peaks[scope.path], bytes.peak);
  return peaks;
}

std::uint64_t size_of_change(const Difference& d) {
  const auto [low, high] = std::minmax(d.before, d.after);
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

// Only what differs, most first.
std::vector<Difference> compare(const BytesByName& before, const BytesByName& after) {
  std::map<std::string, Difference> pairs;
  for (const auto& [name, bytes] : before) pairs[name].before = bytes;
  for (const auto& [name, bytes] : after) pairs[name].after = bytes;
  std::vector<Difference> differences;
  for (auto& [name, pair] : pairs)
    if (pair.before != pair.after) differences.push_back({name, pair.before, pair.after});
  std::sort(differences.begin(), differences.end(), [](const auto& a, const auto& b) {
    const std::uint64_t change_a = size_of_change(a), change_b = size_of_change(b);
    return change_a != change_b ? change_a > change_b : natural_less(a.name, b.name);
  });
  return differences;
}

std::vector<Difference> compare(const CategoryBytes& before, const CategoryBytes& after) {
  std::vector<Difference> differences;
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    if (before[c] != 0 || after[c] != 0)
      differences.push_back({std::string(name_of(static_cast<Category>(c))), before[c], after[c]});
  return differences;
}

DeviceDiff compare_device(const std::string& device, const Side& before, const Side& after) {
  const DevicePeak& peak_before = peak_on(device, before);
  const DevicePeak& peak_after = peak_on(device, after);
  return {.device = device,
          .peak = {"peak", peak_before.allocated_bytes, peak_after.allocated_bytes},
          .categories = compare(peak_before.categories, peak_after.categories),
          .scopes = compare(peaks_by_scope(device, before), peaks_by_scope(device, after)),
          .ops = compare(bytes_by_op(peak_before), bytes_by_op(peak_after))};
}

bool is_same(const DeviceDiff& diff) {
  return diff.peak.before == diff.peak.after && diff.scopes.empty() && diff.ops.empty() &&
         std::all_of(diff.categories.begin(), diff.categories.end(),
                     [](const Difference& d) { return d.before == d.after; });
}

bool is_empty(const DeviceDiff& diff) {
  return diff.categories.empty() && diff.scopes.empty() && diff.ops.empty();
}

void keep_top(std::vector<Difference>& differences, std::size_t top) {
  if (differences.size() > top) differences.resize(top);
}

// Those of the first tape in its order, then what only the second has.
std::vector<std::string> devices_of(const Tape& before, const Tape& after) {
  std::vector<std::string> names;
  for (const Device& device : before.tables().devices()) names.push_back(device.name);
  for (const Device& device : after.tables().devices())
    if (!before.tables().find_device(device.name)) names.push_back(device.name);
  return names;
}

void add_from(Diagnostics& all, const Diagnostics& some, const std::string& tape) {
  for (const Diagnostic& d : some.all())
    all.add(d.code, d.severity, tape + " tape, " + d.where, d.message, d.count);
}

}  // namespace

DiffAnswer find_diff(const Tape& before, const Tape& after, const DiffOptions& options) {
  if (options.device && !before.tables().find_device(*options.device))
    check_device(options.device, after);
  const Side side_before = ask(before, options), side_after = ask(after, options);
  DiffAnswer answer;
  for (const std::string& device : devices_of(before, after)) {
    if (options.device && *options.device != device) continue;
    DeviceDiff diff = compare_device(device, side_before, side_after);
    if (is_empty(diff)) continue;
    answer.same = answer.same && is_same(diff);
    keep_top(diff.scopes, options.top);
    keep_top(diff.ops, options.top);
    answer.devices.push_back(std::move(diff));
  }
  // The scopes' diagnostics have those of the peak in them.
  add_from(answer.diagnostics, side_before.scopes.diagnostics, "first");
  add_from(answer.diagnostics, side_after.scopes.diagnostics, "second");
  return answer;
}

}  // namespace tidemark
