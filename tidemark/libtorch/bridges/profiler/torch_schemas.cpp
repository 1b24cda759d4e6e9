// Translates torch's schemas into the few kinds of arguments that profiles tell apart.
#include "tidemark/libtorch/bridges/profiler/torch_schemas.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <mutex>
#include <string>
#include <unordered_map>

namespace tidemark::profiler {
namespace {

using operators::Argument;
using operators::ArgumentType;
using operators::Schema;

ArgumentType type_of(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::AnyType) return ArgumentType::Any;
  if (type.isSubtypeOf(*c10::ListType::ofTensors())) return ArgumentType::TensorList;
  switch (type.kind()) {
    case c10::TypeKind::TensorType: return ArgumentType::Tensor;
    case c10::TypeKind::NoneType: return ArgumentType::None;
    case c10::TypeKind::BoolType: return ArgumentType::Bool;
    case c10::TypeKind::IntType: return ArgumentType::Int;
    case c10::TypeKind::FloatType: return ArgumentType::Float;
    case c10::TypeKind::ComplexType: return ArgumentType::Complex;
    case c10::TypeKind::NumberType: return ArgumentType::Number;
    default: return ArgumentType::Other;
  }
}

Argument argument_of(const c10::Argument& argument) {
  Argument found;
  const auto optional = argument.type()->cast<c10::OptionalType>();
  found.optional = optional != nullptr;
  found.type = type_of(optional ? *optional->getElementType() : *argument.type());
  found.written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  return found;
}

std::vector<Schema> look_up(const std::string& name) {
  std::vector<Schema> schemas;
  try {
    const auto symbol = c10::Symbol::fromQualString(name);
    for (const auto& op : torch::jit::getAllOperatorsFor(symbol)) {
      Schema& schema = schemas.emplace_back();
      for (const c10::Argument& argument : op->schema().arguments())
        schema.push_back(argument_of(argument));
    }
  } catch (const c10::Error&) {  // a malformed name is no operator
    schemas.clear();
  }
  return schemas;
}

}  // namespace

const std::vector<Schema>& torch_schemas(std::string_view name) {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::vector<Schema>> known;
  const std::lock_guard lock(mutex);
  auto& schemas = known[std::string(name)];
  if (schemas.empty()) schemas = look_up(std::string(name));
  return schemas;
}

std::vector<std::uint32_t> fitting_overloads(const TorchOperator& op) {
  const dataflow::Recording recording = read_operator(op);
  const dataflow::Keys keys = dataflow::keys_as_recorded(recording, dataflow::Tree());
  return dataflow::fitting(
      dataflow::seen_inputs(recording, keys, recording.operators.front()),
      op.name_.find("::") == std::string::npos ? std::vector<Schema>() : torch_schemas(op.name_));
}

}  // namespace tidemark::profiler
