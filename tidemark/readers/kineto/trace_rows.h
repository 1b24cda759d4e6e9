// What is kept of a profiler's trace: spans of threads, and changes of memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tidemark/engine/base/ids.h"

namespace tidemark::kineto {

enum class SpanKind : std::uint8_t {
  Operator,   // aten::mm; row: a call
  Engine,     // autograd's engine at one node of the backward graph; row: a call
  Function,   // what an operator or the engine runs by a name of no library; row: a call
  Module,     // a module's call; row: a text
  Region,     // record_function; row: a text
  Optimizer,  // an optimizer's step; row: a text
  Step,       // the profiler's step
};
constexpr bool is_call(SpanKind kind) { return kind <= SpanKind::Function; }

inline constexpr std::uint32_t kNoNumber = UINT32_MAX;

struct Span {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t row = 0;               // a CallId, or a StringId of the tables
  std::uint32_t sequence = kNoNumber;  // autograd's number, its lower 32 bits
  std::uint32_t record = kNoNumber;    // the record function's id: the join to other traces
  std::uint16_t thread = 0;
  SpanKind kind = SpanKind::Operator;
  bool has_forward = false;  // it names the thread of its forward: so it is backward
};

// Totals of traces that do not tell them.
inline constexpr std::int64_t kNoTotal = INT64_MIN;

struct MemoryRow {
  std::int64_t time_ns = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;  // negative: freed
  std::int64_t allocated = kNoTotal, reserved = kNoTotal;
  std::uint16_t thread = 0;
  DeviceId device;
  bool is_out_of_memory = false;  // a request for so many bytes that failed
};

// Numbers for the threads of a trace, by whatever it calls them.
class Threads {
 public:
  // Throws Error past 65 535 of them.
  std::uint16_t number(std::string_view name);
  std::size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<std::string, std::uint16_t> numbers_;
  std::string last_name_;
  std::uint16_t last_ = 0;
};

}  // namespace tidemark::kineto
