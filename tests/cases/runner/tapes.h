// The tapes of a case, read when first asked for; a text that cannot be read is an answer too.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tests/cases/runner/case_file.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark::cases {

class Tapes {
 public:
  explicit Tapes(const CaseFile& file);
  // The first tape, and the one of "=== tape B". Throw Error as the reader does.
  const Tape& a() { return read(a_, text_a_); }
  const Tape& b() { return read(b_, text_b_); }

 private:
  const Tape& read(std::optional<Tape>& tape, const std::string& text);

  std::string text_a_, text_b_;
  std::optional<Tape> a_, b_;
};

using Options = std::map<std::string, std::string>;

// The number after an option, or what to take without it.
std::int64_t number_of(const Options& options, const std::string& name, std::int64_t otherwise);
Selection selection_of(const Options& options);

}  // namespace tidemark::cases
