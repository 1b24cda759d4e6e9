// Moves what is not yet read to the front of the window, and fills the rest.
#include "tidemark/readers/json/json_stream.h"

#include <algorithm>
#include <cstring>

#include "tidemark/readers/json/json_scan.h"

namespace tidemark {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool ends_scalar(char c) { return is_blank(c) || c == ',' || c == '}' || c == ']' || c == ':'; }

}  // namespace

JsonStream::JsonStream(ByteSource& source, std::size_t window_bytes)
    : source_(source), window_(window_bytes + kPadding) {}

JsonStream::JsonStream(ByteSource& source)
    : JsonStream(source, std::clamp<std::uint64_t>(source.remaining(), 1 << 12, 1 << 20)) {}

Error JsonStream::error(ErrorCode code, const std::string& message, std::uint64_t offset) {
  return Error(code, message, "byte " + std::to_string(offset),
               "--salvage reads what comes before it");
}

void JsonStream::end_too_early() const {
  throw error(ErrorCode::Truncated, "the file ends in the middle", passed_ + size_);
}

// Forgets what stands before `keep_from`, and reads on behind the rest; false at the end.
bool JsonStream::more(std::size_t keep_from) {
  std::memmove(window_.data(), window_.data() + keep_from, size_ - keep_from);
  passed_ += keep_from;
  size_ -= keep_from;
  at_ -= keep_from;
  if (size_ + kPadding == window_.size()) {
    if (size_ > kMostBytes)
      throw error(ErrorCode::BadFormat, "one value is longer than 256 MiB", passed_);
    window_.resize(2 * size_ + kPadding);
  }
  const std::span free(window_.data() + size_, window_.size() - kPadding - size_);
  const std::size_t got = source_.read(std::as_writable_bytes(free));
  size_ += got;
  return got > 0;
}

char JsonStream::peek() {
  while (true) {
    while (at_ < size_ && is_blank(window_[at_])) ++at_;
    if (at_ < size_) return window_[at_];
    if (!more(at_)) return '\0';
  }
}

bool JsonStream::take(char wanted) {
  if (peek() != wanted || at_ == size_) return false;
  ++at_;
  return true;
}

void JsonStream::expect(char wanted) {
  if (take(wanted)) return;
  if (at_ == size_) end_too_early();
  throw error(ErrorCode::BadFormat, std::string("here must be a ") + wanted, offset());
}

std::size_t JsonStream::end_of_scalar() {
  std::size_t end = at_;
  while (true) {
    while (end < size_ && !ends_scalar(window_[end])) ++end;
    if (end < size_) break;
    const std::size_t length = end - at_;
    const bool has_more = more(at_);
    end = at_ + length;
    if (!has_more) break;
  }
  if (end == at_) throw error(ErrorCode::BadFormat, "a value is missing", offset());
  return end;
}

std::size_t JsonStream::end_of_value(Keep keep) {
  const char first = peek();
  if (at_ == size_) end_too_early();
  value_offset_ = offset();
  if (first != '{' && first != '[' && first != '"') return end_of_scalar();
  JsonScan scan;
  for (std::size_t done = at_;;) {
    const auto found = scan.scan(window_.data() + done, window_.data() + size_);
    done = static_cast<std::size_t>(found.at - window_.data());
    if (found.stop == JsonScan::Stop::End) return done;
    if (found.stop == JsonScan::Stop::TooDeep)
      throw error(ErrorCode::BadFormat, "values are nested more than 64 deep", passed_ + done);
    if (found.stop == JsonScan::Stop::WrongBracket)
      throw error(ErrorCode::BadFormat, "a bracket closes what another one opened", passed_ + done);
    if (keep == Keep::Nothing) at_ = done;
    const std::size_t length = done - at_;
    if (!more(at_)) end_too_early();
    done = at_ + length;
  }
}

std::string_view JsonStream::value() {
  const std::size_t end = end_of_value(Keep::Value);
  const std::string_view text(window_.data() + at_, end - at_);
  at_ = end;
  return text;
}

void JsonStream::skip_value() { at_ = end_of_value(Keep::Nothing); }

}  // namespace tidemark
