// Nodes in the order of the file; a node with several results is followed by one that takes each.
#include "tidemark/readers/pt2/model_graph.h"

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/graph/source_line.h"
#include "tidemark/readers/pt2/tensor_values.h"

namespace tidemark::pt2 {
namespace {

using simdjson::dom::array;
using simdjson::dom::object;

// Operators of libraries other than PyTorch's own: nothing is known of what they return.
bool is_foreign(std::string_view target) {
  constexpr std::string_view kOps = "torch.ops.";
  if (!target.starts_with(kOps)) return false;
  target.remove_prefix(kOps.size());
  return !target.starts_with("aten.") && !target.starts_with("prims.") &&
         !target.starts_with("higher_order.");
}

class Model {
 public:
  Model(Json json, Diagnostics found)
      : module_(json["graph_module"]),
        graph_(module_["graph"]),
        tensors_(graph_["tensor_values"], builder_) {
    builder_.diagnostics().add(found);
    read_ranges(json);
  }

  Graph read() {
    read_categories();
    for (Json input : array(graph_["inputs"])) add_input(input);
    for (Json node : array(graph_["nodes"])) add_node(node);
    std::vector<NodeId> returned;
    for (Json output : array(graph_["outputs"])) collect(output, "output", returned);
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
    const std::vector<Named> names = names_in(input);
    const std::string name = names.empty() ? std::string() : names[0].name;
    std::vector<StorageId> storages;
    if (tensors_.contains(name)) {
      storages.push_back(tensors_.allocate(name));
      const auto category = categories_.find(name);
      builder_.set_category(storages[0],
                            category == categories_.end() ? Category::Input : category->second);
    }
    note(name, builder_.add_node(NodeKind::Input, {}, storages), storages);
    builder_.set_text(nodes_.at(name), {.name = name, .phase = Phase::Forward});
  }

  void add_node(Json node) {
    const std::string_view target = node["target"];
    const std::string op = op_name(target);
    const NodeText text = text_of(node, op);
    std::vector<NodeId> inputs;
    std::string first_argument;
    for (Json argument : array(node["inputs"])) {
      const std::string first = collect(argument["arg"], text.name, inputs);
      if (first_argument.empty()) first_argument = first;
    }
    const std::vector<Named> results = names_in(node["outputs"]);
    note_unknown(node, target, text, results);
    std::vector<StorageId> storages;
    for (const Named& result : results)
      if (tensors_.contains(result.name))
        storages.push_back(storage_of(op, node, first_argument, result.name));
    const NodeId id = builder_.add_node(NodeKind::Compute, inputs, storages);
    builder_.set_text(id, text);
    for (StorageId s : storages)
      if (builder_.so_far().allocator(s) == id) builder_.set_category(s, Category::Temporary);
    if (results.empty()) return;
    if (returns_one(node)) return note(results[0].name, id, storages);
    add_parts(id, results, storages, text);
  }

  // What the node does to memory and the graph cannot say.
  void note_unknown(Json node, std::string_view target, const NodeText& text,
                    const std::vector<Named>& results) {
    Diagnostics& found = builder_.diagnostics();
    if (has_graph(node["inputs"]))
      found.add("sub-graph", Severity::Warning, text.name,
                text.op + " runs a graph of its own: what lives only in there is not counted");
    if (is_foreign(target) && !results.empty())
      found.add("unknown-operator", Severity::Note, text.name,
                text.op + " is not PyTorch's own: its results are taken for new storages");
    for (const Named& result : results)
      if (result.is_tensor && !tensors_.contains(result.name))
        found.add("tensor-without-size", Severity::Warning, text.name,
                  "the archive has no sizes of " + result.name + "; it is not counted");
  }

  // The operator.getitem nodes, which the archive leaves out; a result that nobody takes has none.
  void add_parts(NodeId whole, const std::vector<Named>& results,
                 const std::vector<StorageId>& storages, NodeText text) {
    std::size_t next = 0;
    const std::string unused = text.name + "_unused_";
    for (const auto& [name, is_tensor] : results) {
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
    bool is_one = false;  // said of operators with graphs of their own
    if (!node["is_hop_single_tensor_return"].get(is_one)) return is_one;
    const array outputs = node["outputs"];
    if (outputs.size() != 1) return false;
    for (const auto& [kind, what] : object(outputs.at(0)))
      if (kind.find("tensors") != std::string_view::npos) return false;
    return true;
  }

  // Adds the nodes that an argument names. Returns the first name in it.
  std::string collect(Json argument, const std::string& user, std::vector<NodeId>& into) {
    const std::vector<Named> names = names_in(argument);
    for (const Named& named : names) {
      const auto found = nodes_.find(named.name);
      if (found != nodes_.end()) into.push_back(found->second);
      else
        builder_.diagnostics().add("unknown-name", Severity::Warning, user,
                                   user + " uses " + named.name +
                                       ", which nothing before it returns; that use is left out");
    }
    return names.empty() ? std::string() : names[0].name;
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

Graph read_model(const std::string& json, Diagnostics found) {
  try {
    simdjson::dom::parser parser;
    return Model(parser.parse(json), std::move(found)).read();
  } catch (const simdjson::simdjson_error& problem) {
    throw Error(ErrorCode::BadFormat,
                std::string("the model's JSON is not as expected: ") + problem.what(), "model.json",
                "is it an archive of torch.export.save?");
  }
}

}  // namespace tidemark::pt2
