// The only place where exceptions become messages.
#include "tidemark/cli/failure.h"

#include <cstdio>
#include <new>

#include <fmt/format.h>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/utf8.h"

namespace tidemark::cli {
namespace {

constexpr const char* kOurBug = "this is a bug in tidemark: please report it";

int fail_with(const Error& error) {
  if (error.code() == ErrorCode::Internal)
    return fail(fmt::format("internal error: {}", error.what()), kOurBug);
  const std::string& where = error.where();
  return fail(where.empty() ? error.message() : where + ": " + error.message(), error.hint());
}

}  // namespace

int fail(std::string_view message, std::string_view hint) {
  fmt::print(stderr, "tidemark: {}\n", printable(message));
  if (!hint.empty()) fmt::print(stderr, "  hint: {}\n", printable(hint));
  return kFailed;
}

int run_guarded(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    return fail_with(error);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", "try a machine with more, or a shorter recording");
  } catch (const std::exception& error) {
    return fail(fmt::format("internal error: {}", error.what()), kOurBug);
  }
}

}  // namespace tidemark::cli
