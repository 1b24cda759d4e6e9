// Reads a node's lists of values, shapes, types and strides side by side.
#include "tidemark/readers/chakra/execution_nodes.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>

#include "tidemark/engine/base/saturating.h"
#include "tidemark/readers/json/json_stream.h"

namespace tidemark::chakra {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::size_t kMostDimensions = 64;

std::int64_t reach(std::int64_t offset, std::int64_t count, std::int64_t item_bytes) {
  const std::int64_t items =
      add_saturating(std::max<std::int64_t>(offset, 0), std::max<std::int64_t>(count, 0));
  const std::int64_t bytes = std::clamp<std::int64_t>(item_bytes, 1, 1 << 16);
  return items > INT64_MAX / bytes ? INT64_MAX : items * bytes;
}

ArgumentKind plain_kind(std::string_view type) {
  if (type == "None") return ArgumentKind::Nothing;
  if (type == "Int") return ArgumentKind::Int;
  if (type == "Bool") return ArgumentKind::Bool;
  return type == "Double" ? ArgumentKind::Float : ArgumentKind::Other;
}

}  // namespace

class NodeParser::Reading {
 public:
  explicit Reading(ExecutionNodes& into) : into_(into) {}

  void read(std::string_view text) {
    const object json = parser_.parse(text.data(), text.size(), false);
    Node node;
    node.id = json["id"];
    node.name = into_.names.intern(json["name"]);
    node.parent = json["ctrl_deps"];
    for (object attribute : array(json["attrs"])) read_attribute(attribute, node);
    node.first_input = static_cast<std::uint32_t>(into_.arguments.size());
    node.input_count = read_arguments(json["inputs"]);
    node.first_output = node.first_input + node.input_count;
    node.output_count = read_arguments(json["outputs"]);
    into_.nodes.push_back(node);
  }

 private:
  void read_attribute(object attribute, Node& node) {
    const std::string_view name = attribute["name"];
    const element value = attribute["value"];
    if (name == "rf_id") node.record = static_cast<std::uint32_t>(std::uint64_t(value));
    else if (name == "seq_id") node.sequence = value;
    else if (name == "scope")
      node.scope = static_cast<std::uint32_t>(std::min<std::uint64_t>(value, kNoNumber));
    else if (name == "tid") node.thread = value;
    else if (name == "fw_tid") node.forward_thread = value;
  }

  static std::optional<element> strides_at(bool has_strides, array::iterator stride) {
    return has_strides ? std::optional(*stride) : std::nullopt;
  }

  std::uint32_t read_arguments(object all) {
    const array values = all["values"], shapes = all["shapes"], types = all["types"];
    array strides;  // older traces have none
    const bool has_strides = !all["strides"].get(strides);
    const std::size_t first = into_.arguments.size();
    auto shape = shapes.begin(), type = types.begin();
    auto stride = has_strides ? strides.begin() : shapes.begin();
    for (element value : values) {
      // Lists may be cut where they are long.
      if (!(shape != shapes.end()) || !(type != types.end())) break;
      if (has_strides && !(stride != strides.end())) break;
      read_argument(value, *shape, *type, strides_at(has_strides, stride));
      ++shape, ++type, ++stride;
    }
    return static_cast<std::uint32_t>(into_.arguments.size() - first);
  }

  void read_argument(element value, element shape, std::string_view type,
                     std::optional<element> stride) {
    Argument argument{.first = static_cast<std::uint32_t>(into_.uses.size())};
    if (type.starts_with("Tensor(")) {
      argument.kind = ArgumentKind::Tensor;
      read_tensor(value, shape, stride);
    } else if (type.starts_with("GenericList[Tensor(")) {
      argument.kind = ArgumentKind::TensorList;
      read_list(value, shape, stride);
    } else {
      argument.kind = plain_kind(type);
    }
    argument.count = static_cast<std::uint32_t>(into_.uses.size()) - argument.first;
    into_.arguments.push_back(argument);
  }

  void read_list(array values, array shapes, std::optional<element> strides) {
    array all_strides;
    const bool has_strides = strides && !strides->get(all_strides);
    auto shape = shapes.begin();
    auto stride = has_strides ? all_strides.begin() : shapes.begin();
    for (element value : values) {
      if (!(shape != shapes.end()) || (has_strides && !(stride != all_strides.end()))) break;
      array tensor;
      // Other things may stand between tensors of a list.
      if (!value.get(tensor) && tensor.size() == 6)
        read_tensor(value, *shape, strides_at(has_strides, stride));
      ++shape, ++stride;
    }
  }

  // [tensor, storage, offset, count, item bytes, "device"]; storage 0 is of an undefined tensor.
  void read_tensor(array value, element shape, std::optional<element> stride) {
    TensorUse use;
    use.storage = value.at(1);
    const std::int64_t offset = value.at(2), count = value.at(3), item = value.at(4);
    use.reach_bytes = reach(offset, count, item);
    use.item_bytes = static_cast<std::uint32_t>(std::clamp<std::int64_t>(item, 0, 1 << 16));
    use.device = device(value.at(5));
    use.first_size = static_cast<std::uint32_t>(into_.sizes.size());
    read_numbers(shape, into_.sizes);
    into_.strides.resize(into_.sizes.size());
    if (stride) read_strides(*stride, use.first_size);
    use.dimensions = static_cast<std::uint32_t>(into_.sizes.size()) - use.first_size;
    into_.uses.push_back(use);
  }

  static void read_numbers(array from, std::vector<std::int64_t>& into) {
    if (from.size() > kMostDimensions) throw simdjson::simdjson_error(simdjson::INCORRECT_TYPE);
    for (element number : from) into.push_back(std::int64_t(number));
  }

  void read_strides(array from, std::size_t at) {
    for (element number : from)
      if (at < into_.strides.size()) into_.strides[at++] = std::int64_t(number);
  }

  DeviceId device(std::string_view name) {
    const auto found = std::find(into_.devices.begin(), into_.devices.end(), name);
    const auto row = static_cast<std::size_t>(found - into_.devices.begin());
    if (found == into_.devices.end()) {
      if (row == DeviceId::kNone || name.size() > kMaxNameBytes)
        throw Error(ErrorCode::BadFormat, "too many devices");
      into_.devices.emplace_back(name);
    }
    return device_numbered(row);
  }

  ExecutionNodes& into_;
  simdjson::dom::parser parser_;
};

NodeParser::NodeParser(ExecutionNodes& into) : reading_(std::make_unique<Reading>(into)) {}
NodeParser::~NodeParser() = default;

void NodeParser::parse(std::string_view text, std::uint64_t offset) {
  try {
    reading_->read(text);
  } catch (const simdjson::simdjson_error& problem) {
    throw JsonStream::error(
        ErrorCode::BadFormat,
        std::string("the node that begins here is not as expected: ") + problem.what(), offset);
  }
}

}  // namespace tidemark::chakra
