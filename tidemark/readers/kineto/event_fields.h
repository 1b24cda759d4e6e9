// One event of a trace as its fields: what of the JSON matters here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "tidemark/engine/base/error.h"

namespace tidemark::kineto {

enum class EventClass : std::uint8_t {
  Passed,  // of no interest: kernels, flows, names
  Operator,
  Module,
  Annotation,
  Memory,
  OutOfMemory,
};

// Texts are good until the next event is read.
struct EventFields {
  EventClass event_class = EventClass::Passed;
  std::string_view name;    // of a module without "nn.Module: "
  std::string_view thread;  // as it stands in the file
  std::int64_t time_ns = 0, duration_ns = 0;
  // Arguments; nothing where they are missing.
  std::optional<std::int64_t> bytes, total_allocated, total_reserved, device_type, device_id;
  std::optional<std::uint64_t> address;
  std::optional<std::int64_t> sequence, forward_thread, record;
  std::string_view input_dims, input_types;  // as they stand in the file
};

class EventParser {
 public:
  EventParser();
  ~EventParser();

  // `text` is one event with JsonStream::kPadding readable bytes behind it. Throws Error(BadFormat)
  // with the event's offset for what is no JSON, has the wrong type, or says a thing twice.
  const EventFields& parse(std::string_view text, std::uint64_t offset);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace tidemark::kineto
