// Resolves names row by row and compares.
#include "tests/support/tape_content.h"

#include <sstream>

#include "tidemark/engine/tape/file_reader.h"

namespace tidemark::test {
namespace {

std::vector<std::string> stack_texts(const Tables& tables) {
  std::vector<std::string> texts;
  for (const StackNode& node : tables.stacks()) {
    std::string text(tables.strings[node.frame.file]);
    text += ":" + std::to_string(node.frame.line);
    text.append(" ").append(tables.strings[node.frame.function]);
    if (node.parent) text += " < " + texts[node.parent.value];
    texts.push_back(std::move(text));
  }
  return texts;
}

NamedRow named(const Event& e, const Tables& tables, const std::vector<std::string>& stacks) {
  NamedRow row;
  row.kind = e.kind;
  row.time_ns = e.time_ns;
  row.bytes = e.bytes;
  if (e.kind == Kind::Mark) row.mark = tables.strings[StringId(e.subject)];
  else row.number = e.subject;
  row.has_device = static_cast<bool>(e.device);
  if (e.device) row.device = tables.devices()[e.device.value].name;
  row.has_scope = static_cast<bool>(e.scope);
  row.scope = tables.scope_path(e.scope);
  if (e.stack) row.stack = stacks[e.stack.value];
  row.has_call = static_cast<bool>(e.call);
  if (e.call) {
    row.op = tables.strings[tables.calls()[e.call.value].op];
    row.signature = tables.strings[tables.calls()[e.call.value].signature];
  }
  if (e.stream) row.stream = tables.streams()[e.stream.value];
  row.category = e.category;
  row.phase = e.phase;
  return row;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const NamedRow& row) {
  out << name_of(row.kind) << " @" << row.time_ns << " #" << row.number << " " << row.bytes << "B "
      << name_of(row.category) << " device=" << (row.has_device ? row.device : "(none)")
      << " phase=" << name_of(row.phase) << " scope=" << (row.has_scope ? row.scope : "(none)")
      << " op=" << (row.has_call ? row.op : "(none)") << " sig=" << row.signature
      << " at=" << row.stack << " mark=" << row.mark;
  if (row.stream) out << " stream=" << *row.stream;
  return out;
}

std::vector<NamedRow> rows_of(const Tape& tape) {
  const auto stacks = stack_texts(tape.tables());
  std::vector<NamedRow> rows;
  rows.reserve(tape.size());
  for (std::size_t i = 0; i < tape.size(); ++i)
    rows.push_back(named(tape[i], tape.tables(), stacks));
  return rows;
}

std::string first_difference(const Tape& a, const Tape& b) {
  std::ostringstream text;
  if (a.size() != b.size()) text << a.size() << " events against " << b.size();
  const auto rows_a = rows_of(a), rows_b = rows_of(b);
  for (std::size_t i = 0; i < rows_a.size() && i < rows_b.size(); ++i)
    if (!(rows_a[i] == rows_b[i])) {
      text << " event " << i << ": " << rows_a[i] << " against " << rows_b[i];
      break;
    }
  if (a.tables().meta() != b.tables().meta()) text << " the meta entries differ";
  if (!(a.diagnostics() == b.diagnostics())) text << " the diagnostics differ";
  return text.str();
}

std::vector<std::byte> file_of(const Tape& tape, const Codec* codec) {
  MemorySink sink;
  write_tape(tape, sink, codec);
  return sink.bytes();
}

Tape tape_of(std::span<const std::byte> file, const Codec* codec) {
  MemorySource source(file);
  return read_tape_file(source, "memory", codec);
}

}  // namespace tidemark::test
