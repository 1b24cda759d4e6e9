// Reads the declaration; batch norms update their running statistics without declaring it.
#include "tidemark/libtorch/phantom/kernel/written_arguments.h"

#include <algorithm>
#include <array>

namespace tidemark::phantom {
namespace {

bool is_running_statistic(const c10::OperatorHandle& op, const std::string& argument) {
  return (argument == "running_mean" || argument == "running_var") &&
         op.schema().name().find("backward") == std::string::npos;
}

bool is_written_in_place(const c10::Argument& argument) {
  return argument.alias_info() && argument.alias_info()->isWrite() && !argument.kwarg_only();
}

}  // namespace

bool writes_argument(const c10::OperatorHandle& op, std::size_t index) {
  const c10::Argument& argument = op.schema().arguments()[index];
  return (argument.alias_info() && argument.alias_info()->isWrite()) ||
         is_running_statistic(op, argument.name());
}

bool writes_any_argument(const c10::OperatorHandle& op) {
  for (std::size_t i = 0; i < op.schema().arguments().size(); ++i)
    if (writes_argument(op, i)) return true;
  return false;
}

bool only_reshapes(const c10::OperatorHandle& op) {
  constexpr std::array<std::string_view, 5> kReshapers = {
      "aten::resize_", "aten::resize_as_", "aten::set_", "aten::as_strided_", "aten::set_data"};
  const std::string& name = op.schema().name();
  return op.hasTag(at::Tag::inplace_view) ||
         std::find(kReshapers.begin(), kReshapers.end(), name) != kReshapers.end();
}

bool keeps_shape_in_place(const c10::OperatorHandle& op) {
  const std::string& name = op.schema().name();
  const auto& arguments = op.schema().arguments();
  return name.starts_with("aten::") && name.ends_with('_') && !only_reshapes(op) &&
         !arguments.empty() && is_written_in_place(arguments[0]);
}

}  // namespace tidemark::phantom
