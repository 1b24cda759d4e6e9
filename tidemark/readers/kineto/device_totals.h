// Births and deaths on one device, such that what is live always adds up to the trace's own total.
//
// A trace begins in the middle of a process. What is allocated then is one storage of which only
// the size is known; it changes where the trace shows less, or more, than its totals say:
//
//   total 10 at the first event, of 2 bytes:  8 were there before
//   free of 3 bytes at an unknown address:    5 of them are left
#pragma once

#include <unordered_map>

#include "tidemark/engine/tape/builder.h"
#include "tidemark/readers/kineto/trace_rows.h"

namespace tidemark::kineto {

class DeviceTotals {
 public:
  DeviceTotals(DeviceId device, TapeBuilder& builder) : device_(device), builder_(builder) {}

  // Writes what was there before the first event of the device.
  void begin(const MemoryRow& first);
  // Writes a birth or a death. Returns the storage it is of; none for what was there before.
  StorageId add(const MemoryRow& row, Category category, const Place& place);

 private:
  struct Life {
    StorageId storage;
    std::int64_t bytes = 0;
  };
  StorageId birth(const MemoryRow& row, Category category, const Place& place);
  StorageId death(const MemoryRow& row, const Place& place);
  void settle(const MemoryRow& row, const Place& place);
  void set_earlier(std::int64_t bytes, const Place& place);
  void note_reserved(const MemoryRow& row);
  void diagnose(const char* code, Severity severity, const MemoryRow& row, const char* message);

  DeviceId device_;
  TapeBuilder& builder_;
  std::unordered_map<std::uint64_t, Life> alive_;  // by address
  std::int64_t seen_ = 0;                          // their bytes
  StorageId earlier_;                              // what was there before
  std::int64_t earlier_bytes_ = 0;
  std::int64_t reserved_ = 0;
};

}  // namespace tidemark::kineto
