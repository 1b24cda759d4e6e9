// Compares what was seen of arguments with what overloads declare.
#include "tidemark/engine/dataflow/matching.h"

#include <algorithm>

namespace tidemark::dataflow {
namespace {

using operators::Argument;
using operators::ArgumentType;
using operators::Schema;

Seen seen_of(const Value& value, const Keys& keys) {
  switch (value.kind) {
    case ValueKind::Tensor: return keys.of_tensors[value.first] ? Seen::Tensor : Seen::Nothing;
    case ValueKind::TensorList: {
      const auto first = keys.of_tensors.begin() + value.first;
      return std::all_of(first, first + value.count, [](KeyId key) { return bool(key); })
                 ? Seen::Tensors
                 : Seen::SomeTensors;
    }
    case ValueKind::Bool: return Seen::Bool;
    case ValueKind::Int: return Seen::Int;
    case ValueKind::Float: return Seen::Float;
    case ValueKind::Complex: return Seen::Complex;
    case ValueKind::Other: return Seen::Other;
    case ValueKind::Nothing: break;
  }
  return Seen::Nothing;
}

bool is_number(Seen seen) {
  return seen == Seen::Bool || seen == Seen::Int || seen == Seen::Float || seen == Seen::Complex;
}

Match match_of(std::span<const Seen> seen, std::span<const Schema> schemas) {
  Match match;
  for (std::uint32_t number : fitting(seen, schemas)) {
    match.found = true;
    match.written.resize(seen.size(), Written::No);
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (schemas[number][i].written) match.written[i] = Written::Yes;
  }
  if (!match.found) match.written.assign(seen.size(), Written::Unknown);
  return match;
}

}  // namespace

std::vector<Seen> seen_inputs(const Recording& recording, const Keys& keys, const Operator& op) {
  std::vector<Seen> seen;
  for (std::uint32_t i = op.first_input; i < op.first_input + op.input_count; ++i)
    seen.push_back(seen_of(recording.inputs[i], keys));
  return seen;
}

bool fits(Seen seen, const Argument& argument) {
  if (argument.optional && seen == Seen::Nothing) return true;
  switch (argument.type) {
    case ArgumentType::Any: return true;
    case ArgumentType::Tensor: return seen == Seen::Tensor;
    case ArgumentType::TensorList: return seen == Seen::Tensors;
    case ArgumentType::Bool: return seen == Seen::Bool;
    case ArgumentType::Int: return seen == Seen::Int || seen == Seen::Bool;
    case ArgumentType::Float: return seen == Seen::Float;
    case ArgumentType::Complex: return seen == Seen::Complex;
    case ArgumentType::Number: return is_number(seen);
    case ArgumentType::None:
    case ArgumentType::Other: break;
  }
  return seen == Seen::Nothing;
}

std::vector<std::uint32_t> fitting(std::span<const Seen> seen, std::span<const Schema> schemas) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t s = 0; s < schemas.size(); ++s)
    if (std::equal(seen.begin(), seen.end(), schemas[s].begin(), schemas[s].end(), fits))
      numbers.push_back(s);
  return numbers;
}

const Match& Matcher::match(const Operator& op, StringId name) {
  wanted_.assign(reinterpret_cast<const char*>(&name.value), sizeof name.value);
  for (std::uint32_t i = op.first_input; i < op.first_input + op.input_count; ++i)
    wanted_.push_back(static_cast<char>(seen_of(recording_.inputs[i], keys_)));
  const auto known = matches_.find(wanted_);
  if (known != matches_.end()) return known->second;

  auto [schemas, is_new] = schemas_.try_emplace(name);
  const std::string_view text = recording_.names[name];
  if (is_new && text.find("::") != std::string_view::npos) schemas->second = source_(text);
  const auto* seen = reinterpret_cast<const Seen*>(wanted_.data() + sizeof name.value);
  return matches_.emplace(wanted_, match_of({seen, op.input_count}, schemas->second)).first->second;
}

}  // namespace tidemark::dataflow
