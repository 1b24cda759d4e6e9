// Feeds the nodes of a document to their parser, and looks at the schema.
#include "tidemark/readers/chakra/execution_reader.h"

#include "tidemark/readers/json/json_document.h"

namespace tidemark::chakra {
namespace {

class Listener final : public JsonListener {
 public:
  explicit Listener(ExecutionNodes& nodes) : parser_(nodes) {}

  void element(std::string_view text, std::uint64_t offset) override {
    parser_.parse(text, offset);
  }
  bool wants(std::string_view key) const override { return key == "schema"; }
  void member(std::string_view, std::string_view value, std::uint64_t offset) override {
    if (!value.starts_with("\"1.1."))
      throw Error(ErrorCode::Unsupported, "this execution trace has schema " + std::string(value),
                  "byte " + std::to_string(offset), "schemas 1.1 can be read, of PyTorch 2.4 on");
  }

 private:
  NodeParser parser_;
};

}  // namespace

ExecutionNodes read_nodes(ByteSource& document, bool salvage, Diagnostics& diagnostics) {
  ExecutionNodes nodes;
  Listener listener(nodes);
  try {
    JsonStream stream(document);
    walk_document(stream, "nodes", listener);
  } catch (const Error& damage) {
    const bool is_damage =
        damage.code() == ErrorCode::BadFormat || damage.code() == ErrorCode::Truncated;
    if (!salvage || !is_damage || nodes.nodes.empty()) throw;
    diagnostics.add("damaged-execution-trace", Severity::Warning, damage.where(),
                    damage.message() + "; what comes before was read");
  }
  return nodes;
}

}  // namespace tidemark::chakra
