// Walks both lists side by side.
#include "tidemark/readers/kineto/signature.h"

#include <simdjson.h>

#include <array>
#include <utility>

namespace tidemark::kineto {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kTypes = {{
    {"float", "f32"},
    {"double", "f64"},
    {"c10::Half", "f16"},
    {"c10::BFloat16", "bf16"},
    {"long int", "i64"},
    {"long", "i64"},
    {"int", "i32"},
    {"short int", "i16"},
    {"signed char", "i8"},
    {"unsigned char", "u8"},
    {"bool", "bool"},
}};

// Of values that are no tensors.
bool is_plain(std::string_view type) {
  return type.empty() || type == "Scalar" || type == "ScalarList" || type == "TensorList" ||
         type == "GenericList";
}

// "[8,16]"; false where it is not a list of numbers.
bool add_sizes(array sizes, std::string& text) {
  text += '[';
  bool is_first = true;
  for (element size : sizes) {
    std::int64_t value = 0;
    if (size.get(value)) return false;
    if (!is_first) text += ',';
    is_first = false;
    text += std::to_string(value);
  }
  text += ']';
  return true;
}

}  // namespace

std::string_view short_type(std::string_view name) {
  for (const auto& [said, ours] : kTypes)
    if (said == name) return ours;
  return name;
}

std::string signature_of(std::string_view dims, std::string_view types) {
  if (dims.empty() || types.empty()) return {};
  simdjson::dom::parser dims_parser, types_parser;
  array sizes, names;
  if (dims_parser.parse(dims.data(), dims.size()).get(sizes) ||
      types_parser.parse(types.data(), types.size()).get(names))
    return {};
  std::string text;
  auto name = names.begin();
  for (element size : sizes) {
    if (!(name != names.end())) break;
    std::string_view type;
    const bool is_odd = (*name).get(type) != simdjson::SUCCESS;
    ++name;
    array list;
    std::string shape;
    if (is_odd || is_plain(type) || size.get(list) || !add_sizes(list, shape)) continue;
    text += (text.empty() ? "(" : ", ") + std::string(short_type(type)) + shape;
  }
  return text.empty() ? text : text + ")";
}

}  // namespace tidemark::kineto
