// Walks through arguments, and takes names apart.
#include "tidemark/readers/pt2/names.h"

namespace tidemark::pt2 {
namespace {

using simdjson::dom::array;
using simdjson::dom::object;

// Strings, graphs and foreign objects have names of another kind.
bool has_other_names(std::string_view key) {
  return key == "as_graph" || key == "as_string" || key == "as_custom_obj";
}

void add_names(Json json, bool is_tensor, std::vector<Named>& names) {
  if (json.is_array()) {
    for (Json item : array(json)) add_names(item, is_tensor, names);
  } else if (json.is_object()) {
    for (const auto& [key, value] : object(json)) {
      if (has_other_names(key)) continue;
      std::string_view name;
      if ((key == "name" || key == "as_name") && !value.get(name))
        names.push_back({std::string(name), is_tensor});
      else add_names(value, is_tensor || key.find("tensor") != std::string_view::npos, names);
    }
  }
}

}  // namespace

std::vector<Named> names_in(Json argument) {
  std::vector<Named> names;
  add_names(argument, false, names);
  return names;
}

bool has_graph(Json argument) {
  if (argument.is_array()) {
    for (Json item : array(argument))
      if (has_graph(item)) return true;
  } else if (argument.is_object()) {
    for (const auto& [key, value] : object(argument))
      if (key == "as_graph" || has_graph(value)) return true;
  }
  return false;
}

std::string op_name(std::string_view target) {
  if (!target.starts_with("torch.ops.")) return std::string(target);
  target.remove_prefix(10);
  const std::size_t dot = target.find('.');
  if (dot == std::string_view::npos) return std::string(target);
  const std::string_view rest = target.substr(dot + 1);
  return std::string(target.substr(0, dot)) + "::" + std::string(rest.substr(0, rest.find('.')));
}

std::string scope_of(std::string_view stack) {
  const std::size_t begin = stack.rfind(';') + 1;  // npos + 1 is 0
  const std::string_view last = stack.substr(begin);
  const std::size_t comma = last.find(',');
  if (comma == std::string_view::npos) return {};
  const std::string_view rest = last.substr(comma + 1);
  return std::string(rest.substr(0, rest.find(',')));
}

}  // namespace tidemark::pt2
