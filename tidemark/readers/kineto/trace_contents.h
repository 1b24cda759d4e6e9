// All that is kept of one trace, in the order of the file.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tidemark/engine/tape/builder.h"
#include "tidemark/readers/kineto/event_fields.h"
#include "tidemark/readers/kineto/trace_rows.h"

namespace tidemark::kineto {

class TraceContents {
 public:
  // Takes what matters of an event. Throws Error(BadFormat) where a memory event says too little.
  void add(const EventFields& event, std::uint64_t offset);

  // Its tables have every name; it has no events yet.
  TapeBuilder builder;
  std::vector<Span> spans;
  std::vector<MemoryRow> memory;
  Threads threads;
  std::vector<std::string> devices;  // MemoryRow::device is a number of these

 private:
  void add_span(const EventFields& event, SpanKind kind, std::uint32_t row);
  void add_operator(const EventFields& event);
  void add_annotation(const EventFields& event);
  void add_memory(const EventFields& event, std::uint64_t offset);
  DeviceId device_of(const EventFields& event);

  struct KnownCall {
    CallId call;
    SpanKind kind;
  };
  Interner call_texts_;  // name, sizes and types as they stand in the file
  std::vector<KnownCall> calls_;
  std::string call_text_;
};

}  // namespace tidemark::kineto
