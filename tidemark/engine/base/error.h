// The one exception of Tidemark: what went wrong, where, and what to try.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tidemark {

enum class ErrorCode {
  NotFound,     // no such file, device, scope or step
  Unreadable,   // the system would not let us read or write
  BadFormat,    // the bytes are not what they claim to be
  Truncated,    // the input ends before anything useful
  Unsupported,  // a newer version, or a compression this build lacks
  BadArgument,  // a caller asked for something that cannot be
  Internal,     // a broken invariant of ours
};

// "bad-format" and its kin: stable, for scripts.
std::string_view name_of(ErrorCode code);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string message, std::string where = {}, std::string hint = {});

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& where() const { return where_; }
  const std::string& hint() const { return hint_; }

 private:
  ErrorCode code_;
  std::string message_, where_, hint_;
};

}  // namespace tidemark
