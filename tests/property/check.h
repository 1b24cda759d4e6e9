// How a property fails: by throwing a sentence.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace tidemark::test {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The parts of `what` are only put together when they are needed.
template <class... What>
[[noreturn]] void fail(const What&... what) {
  std::ostringstream text;
  (text << ... << what);
  throw Failure(text.str());
}

template <class... What>
void expect(bool is_true, const What&... what) {
  if (!is_true) fail(what...);
}

template <class A, class B, class... What>
void expect_equal(const A& found, const B& expected, const What&... what) {
  if (!(found == expected)) fail(what..., ": ", found, " instead of ", expected);
}

}  // namespace tidemark::test
