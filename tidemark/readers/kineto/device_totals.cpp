// Keeps the storages of a device by address, and the rest as one.
#include "tidemark/readers/kineto/device_totals.h"

#include <algorithm>

#include "tidemark/engine/base/rounding.h"
#include "tidemark/engine/base/saturating.h"

namespace tidemark::kineto {

void DeviceTotals::diagnose(const char* code, Severity severity, const MemoryRow& row,
                            const char* message) {
  builder_.diagnose(code, severity, "time " + std::to_string(row.time_ns) + " ns", message);
}

void DeviceTotals::begin(const MemoryRow& first) {
  if (first.allocated == kNoTotal) return;
  const std::int64_t change = first.is_out_of_memory ? 0 : first.bytes;
  set_earlier(subtract_saturating(first.allocated, change), {});
  if (earlier_bytes_ == 0) return;
  diagnose("allocated-before", Severity::Note, first,
           "what was allocated when the trace began is one storage of category Unknown");
}

StorageId DeviceTotals::add_earlier(const EarlierStorage& storage) {
  const Device& device = builder_.tables().devices()[device_.value];
  const std::int64_t bytes = rounded_up(storage.bytes, device.granularity);
  if (bytes <= 0 || bytes > earlier_bytes_) return {};
  set_earlier(earlier_bytes_ - bytes, {});
  seen_ += bytes;
  const StorageId told = builder_.alloc(device_, storage.bytes, storage.category);
  told_apart_.add(told, bytes, storage.last_use_ns);
  return told;
}

bool DeviceTotals::free_earlier(const MemoryRow& row, const Place& place) {
  const StorageId storage = told_apart_.take(-row.bytes, row.time_ns);
  if (!storage) return false;
  builder_.free(storage, place);
  builder_.set_time(row.time_ns);
  seen_ += row.bytes;
  return true;
}

void DeviceTotals::set_earlier(std::int64_t bytes, const Place& place) {
  bytes = std::max<std::int64_t>(bytes, 0);
  if (bytes == earlier_bytes_) return;
  if (!earlier_) earlier_ = builder_.alloc(device_, bytes, Category::Unknown, place);
  else builder_.resize(earlier_, bytes, place);
  earlier_bytes_ = bytes;
}

// Reserved memory is one segment, as large as the trace says.
void DeviceTotals::note_reserved(const MemoryRow& row) {
  if (row.reserved == kNoTotal || row.reserved == reserved_ || row.reserved < 0) return;
  if (reserved_ > 0) builder_.unmap_segment(device_, device_.value, reserved_);
  builder_.set_time(row.time_ns);
  if (row.reserved > 0) builder_.map_segment(device_, device_.value, row.reserved);
  builder_.set_time(row.time_ns);
  reserved_ = row.reserved;
}

StorageId DeviceTotals::add(const MemoryRow& row, Category category, const Place& place) {
  note_reserved(row);
  return row.bytes > 0 ? birth(row, category, place) : death(row, place);
}

// Before a birth, so that no moment is higher than the trace says.
void DeviceTotals::settle(const MemoryRow& row, const Place& place) {
  if (row.allocated == kNoTotal) return;
  const std::int64_t rest = subtract_saturating(row.allocated, seen_);
  if (rest == earlier_bytes_) return;
  if (rest < 0)
    diagnose("total-too-low", Severity::Warning, row,
             "the trace's total is lower than what it shows alive: it lacks frees");
  else if (rest > earlier_bytes_)
    diagnose("allocated-unseen", Severity::Note, row,
             "the trace's total grew by more than its events say; that is category Unknown");
  set_earlier(rest, place);
  builder_.set_time(row.time_ns);
}

StorageId DeviceTotals::birth(const MemoryRow& row, Category category, const Place& place) {
  Life& life = alive_[row.address];
  if (life.storage) {
    diagnose("free-unseen", Severity::Note, row,
             "memory is handed out again that the trace does not show freed");
    builder_.free(life.storage, place);
    builder_.set_time(row.time_ns);
    seen_ -= life.bytes;
  }
  seen_ = add_saturating(seen_, row.bytes);
  settle(row, place);
  life = {builder_.alloc(device_, row.bytes, category, place), row.bytes};
  return life.storage;
}

StorageId DeviceTotals::death(const MemoryRow& row, const Place& place) {
  const auto found = alive_.find(row.address);
  StorageId freed;
  if (found != alive_.end()) {
    freed = found->second.storage;
    if (found->second.bytes != -row.bytes)
      diagnose("freed-other-size", Severity::Warning, row,
               "a storage was freed with another size than it was allocated with");
    builder_.free(freed, place);
    builder_.set_time(row.time_ns);
    seen_ -= found->second.bytes;
    alive_.erase(found);
  } else if (!free_earlier(row, place) && (row.allocated == kNoTotal || earlier_bytes_ == 0)) {
    diagnose("free-unknown", Severity::Note, row, "memory is freed that the trace did not count");
  }
  settle(row, place);
  return freed;
}

}  // namespace tidemark::kineto
