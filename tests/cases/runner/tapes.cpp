// Reads tapes and options of a case.
#include "tests/cases/runner/tapes.h"

#include "tidemark/engine/tape/text_reader.h"

namespace tidemark::cases {

Tapes::Tapes(const CaseFile& file) : text_a_(file.tape) {
  for (const Section& section : file.sections)
    if (section.verb == "tape B") text_b_ = section.body;
}

const Tape& Tapes::read(std::optional<Tape>& tape, const std::string& text) {
  if (!tape) tape = read_tape_text(text, "case");
  return *tape;
}

std::int64_t number_of(const Options& options, const std::string& name, std::int64_t otherwise) {
  auto found = options.find(name);
  return found == options.end() ? otherwise : std::stoll(found->second);
}

Selection selection_of(const Options& options) {
  Selection selection;
  if (auto device = options.find("--device"); device != options.end())
    selection.device = device->second;
  if (options.contains("--step")) selection.step = number_of(options, "--step", 0);
  return selection;
}

}  // namespace tidemark::cases
