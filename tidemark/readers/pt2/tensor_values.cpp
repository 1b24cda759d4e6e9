// Bytes follow from sizes, strides and type: the last element's place, plus one.
#include "tidemark/readers/pt2/tensor_values.h"

#include "tidemark/engine/base/error.h"

namespace tidemark::pt2 {
namespace {

// Bytes of the element types by the numbers that torch.export gives them.
constexpr std::int64_t kElementBytes[] = {0, 1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 2};
constexpr int kUint16 = 28, kFloat8 = 29, kLastFloat8 = 33, kUint32 = 34, kUint64 = 35;

std::optional<std::int64_t> known_bytes(int dtype) {
  if (dtype > 0 && dtype < static_cast<int>(std::size(kElementBytes))) return kElementBytes[dtype];
  if (dtype >= kFloat8 && dtype <= kLastFloat8) return 1;
  if (dtype == kUint16) return 2;
  if (dtype == kUint32) return 4;
  if (dtype == kUint64) return 8;
  return std::nullopt;
}

std::string device_name(Json json) {
  const std::string_view type = json["type"];
  std::string name(type);
  std::int64_t index = 0;
  if (!json["index"].get(index)) name += ":" + std::to_string(index);
  return name;
}

SizeExpression number(std::int64_t value) { return {{{SizeWord::Number, value}}}; }

bool is_number(const SizeExpression& size) {
  return size.steps.size() == 1 && size.steps[0].word == SizeWord::Number;
}

SizeExpression join(SizeExpression left, SizeWord word, const SizeExpression& right) {
  if (is_number(left) && is_number(right)) {
    left.steps.insert(left.steps.end(), {right.steps[0], {word, 0}});
    return number(evaluate(left, {}));
  }
  left.steps.insert(left.steps.end(), right.steps.begin(), right.steps.end());
  left.steps.push_back({word, 0});
  return left;
}

}  // namespace

TensorValues::TensorValues(Json values, GraphBuilder& builder) : builder_(builder) {
  for (const auto& [name, value] : simdjson::dom::object(values))
    values_.emplace(std::string(name), read(name, value));
}

TensorValues::Value TensorValues::read(std::string_view name, Json json) {
  Value value;
  value.dtype = static_cast<int>(std::int64_t(json["dtype"]));
  value.device = builder_.device(device_name(json["device"]));
  std::int64_t hinted = 0;
  for (Json size : simdjson::dom::array(json["sizes"])) {
    value.sizes.push_back(read_size(name, size, hinted));
    value.hinted_sizes.push_back(hinted);
  }
  for (Json stride : simdjson::dom::array(json["strides"])) {
    value.strides.push_back(read_size(name, stride, hinted));
    value.hinted_strides.push_back(hinted);
  }
  value.is_strided = value.sizes.size() == value.strides.size();
  if (!value.is_strided)
    builder_.diagnostics().add("tensor-without-strides", Severity::Warning, std::string(name),
                               "a tensor has no strides, as sparse ones have none; it is not "
                               "counted");
  value.offset = read_size(name, json["storage_offset"], hinted);
  return value;
}

// {"as_int": 4}, or {"as_expr": {"expr_str": "Symbol('s0')", "hint": {"as_int": 3}}}.
SizeExpression TensorValues::read_size(std::string_view name, Json json, std::int64_t& hinted) {
  if (!json["as_int"].get(hinted)) return number(hinted);
  const Json expression = json["as_expr"];
  const bool has_hint = !expression["hint"]["as_int"].get(hinted);
  if (!has_hint) hinted = 0;
  SizeExpression size = parse(name, std::string_view(expression["expr_str"]),
                              has_hint ? std::optional(hinted) : std::nullopt);
  // A size that is a dimension and nothing else says what that was when the model was captured.
  if (has_hint && size.steps.size() == 1 && size.steps[0].word == SizeWord::Dimension)
    builder_.dimensions()[static_cast<std::size_t>(size.steps[0].value)].hint = hinted;
  return size;
}

// A form that is not known has at least the value that it had when the model was captured.
SizeExpression TensorValues::parse(std::string_view name, std::string_view text,
                                   std::optional<std::int64_t> hint) {
  const std::size_t known = builder_.dimensions().size();
  try {
    return parse_size(text, builder_.dimensions());
  } catch (const Error& error) {
    builder_.dimensions().cut(known);
    builder_.diagnostics().add(
        "unknown-size", Severity::Warning, std::string(name),
        error.message() + (hint ? "; it keeps the value of the capture" : "; it counts as 0"));
    return number(hint.value_or(0));
  }
}

std::int64_t TensorValues::element_bytes(std::string_view name, int dtype) {
  if (const auto known = known_bytes(dtype)) return *known;
  builder_.diagnostics().add("unknown-element-type", Severity::Warning, std::string(name),
                             "element type " + std::to_string(dtype) +
                                 " is not known here; its elements count one byte each");
  return 1;
}

StorageId TensorValues::allocate(std::string_view name) {
  const Value& value = values_.find(name)->second;
  if (!value.is_strided) return builder_.add_storage(value.device, 0);
  SizeExpression elements = join(number(1), SizeWord::Add, value.offset);
  for (std::size_t i = 0; i < value.sizes.size(); ++i) {
    if (is_number(value.sizes[i]) && value.sizes[i].steps[0].value == 0)
      return builder_.add_storage(value.device, 0);
    const SizeExpression last = join(value.sizes[i], SizeWord::Subtract, number(1));
    elements =
        join(std::move(elements), SizeWord::Add, join(last, SizeWord::Multiply, value.strides[i]));
  }
  // One that turns out to be 0 leaves nothing, whatever the strides are then.
  for (const SizeExpression& size : value.sizes)
    if (!is_number(size))
      elements =
          join(std::move(elements), SizeWord::Multiply, join(size, SizeWord::Minimum, number(1)));
  elements =
      join(std::move(elements), SizeWord::Multiply, number(element_bytes(name, value.dtype)));
  if (is_number(elements)) return builder_.add_storage(value.device, elements.steps[0].value);
  return builder_.add_storage(value.device, std::move(elements));
}

operators::Layout TensorValues::layout(const Value& value) const {
  return {value.dtype, value.device.value, value.hinted_sizes, value.hinted_strides};
}

bool TensorValues::is_view(std::string_view of, std::string_view result) const {
  const auto argument = values_.find(of), returned = values_.find(result);
  if (argument == values_.end() || returned == values_.end()) return false;
  return operators::is_view_of(layout(argument->second), layout(returned->second));
}

}  // namespace tidemark::pt2
