// What one thread has learned of places in Python's code: read and written without any lock.
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "tidemark/engine/base/ids.h"

namespace tidemark::python {

// A table with one seat for each place: who comes later sits there. Entries of another era, when
// addresses of code may have meant other code, do not count.
class RememberedPlaces {
 public:
  struct Entry {
    const PyCodeObject* code = nullptr;
    int instruction = 0;
    std::uint32_t era = 0;
    StackId line;  // nothing, where the code is machinery
    bool is_hidden = false;
  };

  const Entry* find(const PyCodeObject* code, int instruction, std::uint32_t era) const {
    const Entry& entry = entries_[seat(code, instruction)];
    const bool is_it = entry.code == code && entry.instruction == instruction && entry.era == era;
    return is_it ? &entry : nullptr;
  }
  void keep(const Entry& entry) { entries_[seat(entry.code, entry.instruction)] = entry; }

 private:
  static constexpr int kBits = 10;
  static std::size_t seat(const PyCodeObject* code, int instruction) {
    const auto address = reinterpret_cast<std::uintptr_t>(code);
    return (address / 16 + static_cast<unsigned>(instruction)) * 0x9E3779B97F4A7C15U >>
           (64 - kBits);
  }

  std::array<Entry, std::size_t{1} << kBits> entries_;
};

}  // namespace tidemark::python
