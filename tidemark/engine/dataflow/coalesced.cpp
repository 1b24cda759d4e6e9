// Adds a device's entries up into rows of bytes by category, one row for each microsecond.
#include <algorithm>
#include <cmath>

#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/dataflow/timeline.h"

namespace tidemark::dataflow {

std::size_t export_number(Category category) {
  const auto found = std::find(kExportOrder.begin(), kExportOrder.end(), category);
  return std::min<std::size_t>(found - kExportOrder.begin(), kExportOrder.size() - 1);
}

std::int64_t microseconds_as_python(std::int64_t time_ns) {
  const std::int64_t whole = time_ns / 1000, rest = time_ns % 1000;
  const auto exact = static_cast<double>(whole);
  const double step = std::nextafter(exact, HUGE_VAL) - exact;
  // The next whole number is even in steps, so that the middle between the two rounds up to it.
  return rest > 0 && 1000.0 - static_cast<double>(rest) <= 500.0 * step ? whole + 1 : whole;
}

namespace {

class Coalescing {
 public:
  explicit Coalescing(const Labels& labels) : labels_(labels) {}

  void see(const Entry& entry) {
    start_row(entry.time_ns == kBeforeTheRun ? entry.time_ns
                                             : microseconds_as_python(entry.time_ns));
    if (entry.action == Action::IncrementVersion) {
      add(entry, entry.version, -entry.bytes);
      add(entry, entry.version + 1, entry.bytes);
    } else {
      add(entry, entry.version, entry.action == Action::Destroy ? -entry.bytes : entry.bytes);
    }
  }

  CoalescedTimeline finish() {
    for (std::int64_t& time : found_.times_us)
      if (time < 0) time = earliest_;
    return std::move(found_);
  }

 private:
  void start_row(std::int64_t time) {
    if (earliest_ == kBeforeTheRun || (time < earliest_ && time > 0)) earliest_ = time;
    if (!found_.times_us.empty() && found_.times_us.back() == time) return;
    found_.times_us.push_back(time);
    found_.rows.push_back(found_.rows.empty() ? CoalescedTimeline::Row() : found_.rows.back());
  }

  void add(const Entry& entry, std::int32_t version, std::int64_t bytes) {
    const Category label = entry.key ? labels_(entry.key, version) : Category::Unknown;
    std::int64_t& sum = found_.rows.back()[export_number(label)];
    sum = add_saturating(sum, bytes);
  }

  const Labels& labels_;
  CoalescedTimeline found_;
  std::int64_t earliest_ = kBeforeTheRun;
};

}  // namespace

CoalescedTimeline coalesce(const std::vector<Entry>& entries, const Labels& labels,
                           DeviceId device) {
  Coalescing coalescing(labels);
  for (const Entry& entry : entries)
    if (entry.device == device) coalescing.see(entry);
  return coalescing.finish();
}

}  // namespace tidemark::dataflow
