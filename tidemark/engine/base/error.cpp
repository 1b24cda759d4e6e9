// Builds the one-line text of an Error from its parts.
#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

std::string join(const std::string& message, const std::string& where, const std::string& hint) {
  std::string text = where.empty() ? message : where + ": " + message;
  if (!hint.empty()) text += " (" + hint + ")";
  return text;
}

}  // namespace

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::NotFound: return "not-found";
    case ErrorCode::Unreadable: return "unreadable";
    case ErrorCode::BadFormat: return "bad-format";
    case ErrorCode::Truncated: return "truncated";
    case ErrorCode::Unsupported: return "unsupported";
    case ErrorCode::BadArgument: return "bad-argument";
    case ErrorCode::Internal: return "internal";
  }
  return "internal";
}

Error::Error(ErrorCode code, std::string message, std::string where, std::string hint)
    : std::runtime_error(join(message, where, hint)),
      code_(code),
      message_(std::move(message)),
      where_(std::move(where)),
      hint_(std::move(hint)) {}

}  // namespace tidemark
