// Reads an event in one pass, and leaves as soon as it is known to be of no interest.
#include "tidemark/readers/kineto/event_fields.h"

#include <simdjson.h>

#include <cstring>

#include "tidemark/readers/json/json_stream.h"
#include "tidemark/readers/json/json_time.h"

namespace tidemark::kineto {
namespace {

using simdjson::ondemand::object;
using simdjson::ondemand::raw_json_string;
using simdjson::ondemand::value;

constexpr std::string_view kModule = "nn.Module: ";

// The closing quote belongs to the comparison.
template <std::size_t kSize>
bool is_key(raw_json_string key, const char (&quoted)[kSize]) {
  return std::memcmp(key.raw(), quoted, kSize - 1) == 0;
}

std::string_view trimmed(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

struct Twice {};

class Reading {
 public:
  Reading(EventFields& fields) : fields_(fields) {}

  void read(object event) {
    for (auto field : event) {
      read_member(field.key(), field.value());
      if (is_passed()) break;
    }
    classify();
  }

 private:
  enum Seen : std::uint32_t {
    kPh = 1,
    kCat = 2,
    kName = 4,
    kTs = 8,
    kDur = 16,
    kTid = 32,
    kArgs = 64
  };

  void once(std::uint32_t what) {
    if (seen_ & what) throw Twice();
    seen_ |= what;
  }

  void read_member(raw_json_string key, value v) {
    if (is_key(key, "ph\"")) {
      once(kPh);
      const std::string_view text = v.get_string();
      phase_ = text.size() == 1 ? text[0] : '?';
    } else if (is_key(key, "cat\"")) {
      once(kCat);
      category_ = v.get_string();
    } else if (is_key(key, "name\"")) {
      once(kName);
      fields_.name = v.get_string();
    } else if (is_key(key, "ts\"")) {
      once(kTs);
      fields_.time_ns = nanoseconds(v);
    } else if (is_key(key, "dur\"")) {
      once(kDur);
      fields_.duration_ns = nanoseconds(v);
    } else if (is_key(key, "tid\"")) {
      once(kTid);
      fields_.thread = trimmed(v.raw_json_token());
    } else if (is_key(key, "args\"")) {
      once(kArgs);
      // Events of other kinds may have arguments of any kind.
      object arguments;
      if (!v.get_object().get(arguments)) read_arguments(arguments);
      else has_odd_arguments_ = true;
    }
  }

  void read_arguments(object arguments) {
    for (auto field : arguments) read_argument(field.key(), field.value());
  }

  void read_argument(raw_json_string key, value v) {
    switch (key.raw()[0]) {
      case 'A': set(fields_.address, is_key(key, "Addr\""), v); break;
      case 'B': set(fields_.bytes, is_key(key, "Bytes\""), v); break;
      case 'D':
        set(fields_.device_type, is_key(key, "Device Type\""), v);
        set(fields_.device_id, is_key(key, "Device Id\""), v);
        break;
      case 'F': set(fields_.forward_thread, is_key(key, "Fwd thread id\""), v); break;
      case 'I':
        if (is_key(key, "Input Dims\"")) fields_.input_dims = simdjson::to_json_string(v);
        else if (is_key(key, "Input type\"")) fields_.input_types = simdjson::to_json_string(v);
        break;
      case 'R': set(fields_.record, is_key(key, "Record function id\""), v); break;
      case 'S': set(fields_.sequence, is_key(key, "Sequence number\""), v); break;
      case 'T':
        set(fields_.total_allocated, is_key(key, "Total Allocated\""), v);
        set(fields_.total_reserved, is_key(key, "Total Reserved\""), v);
        break;
      default: break;
    }
  }

  template <class Number>
  static void set(std::optional<Number>& field, bool is_meant, value& v) {
    if (!is_meant) return;
    if (field) throw Twice();
    if constexpr (std::is_unsigned_v<Number>) field = v.get_uint64();
    else field = v.get_int64();
  }

  static std::int64_t nanoseconds(value& v) {
    const auto time = nanoseconds_of(trimmed(v.raw_json_token()));
    if (!time) throw simdjson::simdjson_error(simdjson::NUMBER_ERROR);
    return *time;
  }

  EventClass class_of() const {
    const std::string_view name = fields_.name;
    if (phase_ == 'X') {
      if (category_ == "cpu_op" || category_ == "Operator") return EventClass::Operator;
      if (category_ == "user_annotation") return EventClass::Annotation;
      if (category_ == "python_function" && name.starts_with(kModule)) return EventClass::Module;
    } else if (phase_ == 'i' || phase_ == 'I') {
      if (name == "[memory]") return EventClass::Memory;
      if (name == "[OutOfMemory]") return EventClass::OutOfMemory;
    }
    return EventClass::Passed;
  }

  // Nothing that follows can make it interesting.
  bool is_passed() const {
    constexpr std::uint32_t kTelling = kPh | kCat | kName;
    return (seen_ & kTelling) == kTelling && class_of() == EventClass::Passed;
  }

  void classify() {
    fields_.event_class = class_of();
    if (fields_.event_class == EventClass::Passed) return;
    if (!(seen_ & kTs) || has_odd_arguments_)
      throw simdjson::simdjson_error(simdjson::INCORRECT_TYPE);
    if (fields_.event_class == EventClass::Module) fields_.name.remove_prefix(kModule.size());
  }

  EventFields& fields_;
  std::string_view category_;
  std::uint32_t seen_ = 0;
  char phase_ = '?';
  bool has_odd_arguments_ = false;
};

}  // namespace

struct EventParser::Parser {
  simdjson::ondemand::parser parser;
  EventFields fields;
};

EventParser::EventParser() : parser_(std::make_unique<Parser>()) {}
EventParser::~EventParser() = default;

const EventFields& EventParser::parse(std::string_view text, std::uint64_t offset) {
  EventFields& fields = parser_->fields;
  fields = {};
  try {
    auto document =
        parser_->parser.iterate(text.data(), text.size(), text.size() + JsonStream::kPadding);
    Reading(fields).read(document.get_object());
  } catch (const simdjson::simdjson_error& problem) {
    throw JsonStream::error(
        ErrorCode::BadFormat,
        std::string("the event that begins here is not as expected: ") + problem.what(), offset);
  } catch (const Twice&) {
    throw JsonStream::error(ErrorCode::BadFormat, "the event that begins here says a thing twice",
                            offset);
  }
  return fields;
}

}  // namespace tidemark::kineto
