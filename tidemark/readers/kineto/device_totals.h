// Births and deaths on one device, such that what is live always adds up to the trace's own total.
//
// A trace begins in the middle of a process. What is allocated then is one storage of which only
// the size is known, unless somebody knows more of it; it changes where the trace shows less, or
// more, than its totals say:
//
//   total 10 at the first event, of 2 bytes:  8 were there before
//   free of 3 bytes at an unknown address:    5 of them are left
#pragma once

#include <unordered_map>

#include "tidemark/engine/tape/builder.h"
#include "tidemark/readers/kineto/earlier_lives.h"
#include "tidemark/readers/kineto/storage_labels.h"

namespace tidemark::kineto {

class DeviceTotals {
 public:
  DeviceTotals(DeviceId device, TapeBuilder& builder) : device_(device), builder_(builder) {}

  // Writes what was there before the first event of the device.
  void begin(const MemoryRow& first);
  // Tells one storage of what was there before from the rest, where the rest is large enough.
  // Returns it, or none.
  StorageId add_earlier(const EarlierStorage& storage);
  // Writes a birth or a death. Returns the storage it is of; none for what was there before.
  StorageId add(const MemoryRow& row, Category category, const Place& place);

 private:
  struct Life {
    StorageId storage;
    std::int64_t bytes = 0;
  };
  bool free_earlier(const MemoryRow& row, const Place& place);
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
  EarlierLives told_apart_;                        // of what was there before
  StorageId earlier_;                              // the rest of that
  std::int64_t earlier_bytes_ = 0;
  std::int64_t reserved_ = 0;
};

}  // namespace tidemark::kineto
