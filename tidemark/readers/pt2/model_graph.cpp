// Nodes in the order of the file; a node with several results is followed by one that takes each.
#include "tidemark/readers/pt2/model_graph.h"

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/graph/source_line.h"
#include "tidemark/readers/pt2/tensor_values.h"

namespace tidemark::pt2 {
namespace {

using simdjson::dom::array;
using simdjson::dom::object;

// "torch.ops.aten.linear.default" is aten::linear.
std::string op_name(std::string_view target) {
  if (!target.starts_with("torch.ops.")) return std::string(target);
  target.remove_prefix(10);
  const std::size_t dot = target.find('.');
  if (dot == std::string_view::npos) return std::string(target);
  const std::string_view rest = target.substr(dot + 1);
  return std::string(target.substr(0, dot)) + "::" + std::string(rest.substr(0, rest.find('.')));
}

// "L__self__,,M;L__self__l.0,l.0,Linear": the path of the innermost module.
std::string scope_of(std::string_view stack) {
  const std::size_t begin = stack.rfind(';') + 1;  // npos + 1 is 0
  const std::string_view last = stack.substr(begin);
  const std::size_t comma = last.find(',');
  if (comma == std::string_view::npos) return {};
  const std::string_view rest = last.substr(comma + 1);
  return std::string(rest.substr(0, rest.find(',')));
}

class Model {
 public:
  explicit Model(Json json)
      : module_(json["graph_module"]), graph_(module_["graph"]),
        tensors_(graph_["tensor_values"], builder_) {
    read_ranges(json);
  }

  Graph read() {
    read_categories();
    for (Json input : array(graph_["inputs"])) add_input(input);
    for (Json node : array(graph_["nodes"])) add_node(node);
    std::vector<NodeId> returned;
    for (Json output : array(graph_["outputs"])) collect(output, returned);
    const NodeId output = builder_.add_node(NodeKind::Output, returned, {});
    builder_.set_text(output, {.name = "output", .phase = Phase::Forward});
    label_returned(output);
    return builder_.finish();
  }

 private:
  void read_ranges(Json json) {
    object ranges;
    if (json["range_constraints"].get(ranges)) return;
    for (const auto& [name, range] : ranges)
      if (Dimension* const dimension = builder_.dimensions().find(name)) {
        std::int64_t bound = 0;
        if (!range["min_val"].get(bound)) dimension->lower = bound;
        if (!range["max_val"].get(bound)) dimension->upper = bound;
      }
  }

  // {"parameter": {"arg": {"name": "p_weight"}, ...}} for each input.
  void read_categories() {
    array specs;
    if (module_["signature"]["input_specs"].get(specs)) return;
    for (Json spec : specs)
      for (const auto& [kind, what] : object(spec)) {
        std::string_view name;
        if (what["arg"]["name"].get(name)) continue;
        if (kind == "parameter") categories_[std::string(name)] = Category::Parameter;
        if (kind == "buffer" || kind == "tensor_constant")
          categories_[std::string(name)] = Category::Buffer;
      }
  }

  void add_input(Json input) {
    const std::string name = first_name(input);
    std::vector<StorageId> storages;
    if (tensors_.contains(name)) {
      storages.push_back(tensors_.allocate(name));
      const auto category = categories_.find(name);
      builder_.set_category(storages[0], category == categories_.end() ? Category::Input
                                                                       : category->second);
    }
    note(name, builder_.add_node(NodeKind::Input, {}, storages), storages);
    builder_.set_text(nodes_.at(name), {.name = name, .phase = Phase::Forward});
  }

  void add_node(Json node) {
    std::vector<NodeId> inputs;
    std::string first_argument;
    for (Json argument : array(node["inputs"])) {
      collect(argument["arg"], inputs);
      if (first_argument.empty()) first_argument = first_name(argument["arg"]);
    }
    const std::string op = op_name(std::string_view(node["target"]));
    const std::vector<std::string> results = result_names(node);
    std::vector<StorageId> storages;
    for (const std::string& result : results)
      if (tensors_.contains(result))
        storages.push_back(storage_of(op, node, first_argument, result));
    const NodeId id = builder_.add_node(NodeKind::Compute, inputs, storages);
    const NodeText text = text_of(node, op);
    builder_.set_text(id, text);
    for (StorageId s : storages)
      if (builder_.so_far().allocator(s) == id) builder_.set_category(s, Category::Temporary);
    if (results.empty()) return;
    if (returns_one(node)) return note(results[0], id, storages);
    add_parts(id, results, storages, text);
  }

  // The operator.getitem nodes, which the archive leaves out; a result that nobody takes has none.
  void add_parts(NodeId whole, const std::vector<std::string>& names,
                 const std::vector<StorageId>& storages, NodeText text) {
    std::size_t next = 0;
    const std::string unused = text.name + "_unused_";
    for (const std::string& name : names) {
      std::vector<StorageId> own;
      if (tensors_.contains(name)) own.push_back(storages[next++]);
      if (name.starts_with(unused)) continue;
      const NodeId part = builder_.add_node(NodeKind::Compute, {&whole, 1}, own);
      note(name, part, own);
      text.name = name, text.op = "getitem";
      builder_.set_text(part, text);
    }
  }

  StorageId storage_of(const std::string& op, Json node, const std::string& argument,
                       const std::string& result) {
    const auto source = storages_.find(argument);
    if (source != storages_.end()) {
      const auto alias = operators::alias_of_first_argument(op);
      if (alias == operators::Alias::Always || is_idle_dropout(op, node)) return source->second;
      if (alias == operators::Alias::Sometimes && tensors_.is_view(argument, result))
        return source->second;
    }
    return tensors_.allocate(result);
  }

  // Dropout outside of training returns its input.
  static bool is_idle_dropout(const std::string& op, Json node) {
    if (!operators::is_dropout(op)) return false;
    for (Json argument : array(node["inputs"])) {
      bool is_training = true;
      if (std::string_view(argument["name"]) != "train") continue;
      if (!argument["arg"]["as_bool"].get(is_training)) return !is_training;
    }
    return false;
  }

  static bool returns_one(Json node) {
    const array outputs = node["outputs"];
    if (outputs.size() != 1) return false;
    for (const auto& [kind, what] : object(outputs.at(0)))
      if (kind.find("tensors") != std::string_view::npos) return false;
    return true;
  }

  static std::vector<std::string> result_names(Json node) {
    std::vector<std::string> names;
    for (Json output : array(node["outputs"])) add_names(output, names);
    return names;
  }

  // Every name in an argument, in order: tensors, lists of them, symbolic numbers.
  static void add_names(Json json, std::vector<std::string>& names) {
    if (json.is_array()) {
      for (Json item : array(json)) add_names(item, names);
    } else if (json.is_object()) {
      for (const auto& [key, value] : object(json)) {
        if (key == "as_graph" || key == "as_string" || key == "as_custom_obj") continue;
        std::string_view name;
        if ((key == "name" || key == "as_name") && !value.get(name)) names.emplace_back(name);
        else add_names(value, names);
      }
    }
  }

  static std::string first_name(Json json) {
    std::vector<std::string> names;
    add_names(json, names);
    return names.empty() ? std::string() : names[0];
  }

  void collect(Json json, std::vector<NodeId>& into) const {
    std::vector<std::string> names;
    add_names(json, names);
    for (const std::string& name : names)
      if (const auto found = nodes_.find(name); found != nodes_.end())
        into.push_back(found->second);
  }

  void note(const std::string& name, NodeId node, const std::vector<StorageId>& storages) {
    nodes_[name] = node;
    if (!storages.empty()) storages_[name] = storages[0];
  }

  static NodeText text_of(Json node, const std::string& op) {
    NodeText text{.op = op, .phase = Phase::Forward};
    std::string_view found;
    if (!node["name"].get(found)) text.name = found;
    if (!node["metadata"]["nn_module_stack"].get(found)) text.scope = scope_of(found);
    if (!node["metadata"]["stack_trace"].get(found)) {
      SourceLine line = find_source_line(found);
      text.file = std::move(line.file), text.line = line.line;
    }
    return text;
  }

  void label_returned(NodeId output) {
    const Graph& graph = builder_.so_far();
    for (StorageId s : graph.uses(output))
      if (graph.kind(graph.allocator(s)) == NodeKind::Compute)
        builder_.set_category(s, Category::Activation);
  }

  GraphBuilder builder_;
  Json module_, graph_;
  TensorValues tensors_;
  std::map<std::string, NodeId> nodes_;
  std::map<std::string, StorageId> storages_;
  std::map<std::string, Category> categories_;
};

}  // namespace

Graph read_model(const std::string& json) {
  try {
    simdjson::dom::parser parser;
    return Model(parser.parse(json)).read();
  } catch (const simdjson::simdjson_error& problem) {
    throw Error(ErrorCode::BadFormat,
                std::string("the model's JSON is not as expected: ") + problem.what(), "model.json",
                "is it an archive of torch.export.save?");
  }
}

}  // namespace tidemark::pt2
