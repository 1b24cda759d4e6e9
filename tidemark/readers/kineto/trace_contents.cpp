// Makes rows of events; names become rows of the tape's tables at once.
#include "tidemark/readers/kineto/trace_contents.h"

#include <algorithm>
#include <array>

#include "tidemark/engine/base/saturating.h"
#include "tidemark/readers/json/json_stream.h"
#include "tidemark/readers/kineto/signature.h"

namespace tidemark::kineto {
namespace {

// PyTorch's numbers of kinds of devices.
constexpr std::array<std::string_view, 21> kDevices = {
    "cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
    "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
    "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};

std::string device_name(std::int64_t type, std::int64_t number) {
  const bool is_known = type >= 0 && type < static_cast<std::int64_t>(kDevices.size());
  std::string name = is_known ? std::string(kDevices[static_cast<std::size_t>(type)])
                              : "device" + std::to_string(type);
  // The CPU is one device.
  if (number >= 0) name += ":" + std::to_string(number);
  return name;
}

SpanKind kind_of_call(std::string_view name) {
  if (name.starts_with("autograd::engine::")) return SpanKind::Engine;
  return name.find("::") == std::string_view::npos ? SpanKind::Function : SpanKind::Operator;
}

SpanKind kind_of_annotation(std::string_view name) {
  if (name.starts_with("ProfilerStep#")) return SpanKind::Step;
  return name.starts_with("Optimizer.step#") ? SpanKind::Optimizer : SpanKind::Region;
}

std::uint32_t number_of(std::optional<std::int64_t> value) {
  return value && *value >= 0 ? static_cast<std::uint32_t>(*value) : kNoNumber;
}

}  // namespace

void TraceContents::add(const EventFields& event, std::uint64_t offset) {
  switch (event.event_class) {
    case EventClass::Passed: break;
    case EventClass::Operator: add_operator(event); break;
    case EventClass::Module:
      add_span(event, SpanKind::Module, builder.tables().strings.intern(event.name).value);
      break;
    case EventClass::Annotation: add_annotation(event); break;
    case EventClass::Memory:
    case EventClass::OutOfMemory: add_memory(event, offset); break;
  }
}

void TraceContents::add_span(const EventFields& event, SpanKind kind, std::uint32_t row) {
  if (event.duration_ns < 0)
    builder.diagnose("negative-duration", Severity::Warning, std::string(event.name),
                     "an event ends before it begins; it is taken to end at once");
  spans.push_back(
      {.start_ns = event.time_ns,
       .end_ns = add_saturating(event.time_ns, std::max<std::int64_t>(0, event.duration_ns)),
       .row = row,
       .sequence = number_of(event.sequence),
       .record = number_of(event.record),
       .thread = threads.number(event.thread),
       .kind = kind,
       .has_forward = event.forward_thread.value_or(0) > 0});
}

void TraceContents::add_operator(const EventFields& event) {
  call_text_.assign(event.name).append(event.input_dims).append(event.input_types);
  // Sizes of a long list would pass what a name may have.
  if (call_text_.size() > kMaxNameBytes) call_text_.assign(event.name.substr(0, kMaxNameBytes));
  const std::size_t row = call_texts_.intern(call_text_).value;
  if (row == calls_.size())
    calls_.push_back(
        {builder.tables().call(event.name, signature_of(event.input_dims, event.input_types)),
         kind_of_call(event.name)});
  add_span(event, calls_[row].kind, calls_[row].call.value);
}

// A dot in a path of scopes is a step down: names of regions have none.
void TraceContents::add_annotation(const EventFields& event) {
  std::string name(event.name);
  std::replace(name.begin(), name.end(), '.', '_');
  add_span(event, kind_of_annotation(event.name), builder.tables().strings.intern(name).value);
}

DeviceId TraceContents::device_of(const EventFields& event) {
  const std::string name = device_name(*event.device_type, event.device_id.value_or(-1));
  const auto found = std::find(devices.begin(), devices.end(), name);
  const auto row = static_cast<std::size_t>(found - devices.begin());
  if (found == devices.end()) {
    if (row == DeviceId::kNone) throw Error(ErrorCode::BadFormat, "more than 255 devices");
    devices.push_back(name);
  }
  return device_numbered(row);
}

void TraceContents::add_memory(const EventFields& event, std::uint64_t offset) {
  const bool is_failure = event.event_class == EventClass::OutOfMemory;
  if (!event.bytes || !event.device_type || (!event.address && !is_failure))
    throw JsonStream::error(ErrorCode::BadFormat,
                            "the memory event that begins here lacks its bytes, address or device",
                            offset);
  if (*event.bytes == INT64_MIN)
    throw JsonStream::error(ErrorCode::BadFormat, "the memory event that begins here is too large",
                            offset);
  memory.push_back({.time_ns = event.time_ns,
                    .address = event.address.value_or(0),
                    .bytes = *event.bytes,
                    .allocated = event.total_allocated.value_or(kNoTotal),
                    .reserved = event.total_reserved.value_or(kNoTotal),
                    .thread = threads.number(event.thread),
                    .device = device_of(event),
                    .is_out_of_memory = is_failure});
}

}  // namespace tidemark::kineto
