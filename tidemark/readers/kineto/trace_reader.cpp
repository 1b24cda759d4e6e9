// Feeds the events of a document to the rows of a trace.
#include "tidemark/readers/kineto/trace_reader.h"

#include <simdjson.h>

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/json/json_document.h"

namespace tidemark::kineto {
namespace {

class Listener final : public JsonListener {
 public:
  explicit Listener(TraceContents& contents) : contents_(contents) {}

  void element(std::string_view text, std::uint64_t offset) override {
    contents_.add(parser_.parse(text, offset), offset);
  }
  bool wants(std::string_view key) const override { return key == "distributedInfo"; }
  void member(std::string_view, std::string_view value, std::uint64_t) override {
    simdjson::dom::parser parser;
    simdjson::dom::object facts;
    if (parser.parse(value.data(), value.size()).get(facts)) return;
    note(facts, "rank", "run.rank");
    note(facts, "world_size", "run.world_size");
  }

 private:
  void note(simdjson::dom::object facts, const char* key, const char* meta) {
    std::int64_t number = 0;
    if (!facts[key].get(number) && number >= 0)
      contents_.builder.tables().set_meta(meta, std::to_string(number));
  }

  TraceContents& contents_;
  EventParser parser_;
};

}  // namespace

TraceContents read_contents(ByteSource& document, bool salvage) {
  TraceContents contents;
  Listener listener(contents);
  try {
    JsonStream stream(document);
    walk_document(stream, "traceEvents", listener);
  } catch (const Error& damage) {
    const bool is_damage =
        damage.code() == ErrorCode::BadFormat || damage.code() == ErrorCode::Truncated;
    if (!salvage || !is_damage || contents.memory.empty()) throw;
    contents.builder.diagnose("damaged", Severity::Warning, damage.where(),
                              damage.message() + "; what comes before was read");
  }
  return contents;
}

}  // namespace tidemark::kineto
