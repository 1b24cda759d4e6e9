// Any bytes as an exported model, archive or JSON: an error, or a graph that answers.
#include <cstdlib>
#include <string>

#include "tests/fuzz/every_question.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/graph/graph_tape.h"
#include "tidemark/engine/graph/profile.h"
#include "tidemark/readers/pt2/model_graph.h"
#include "tidemark/readers/pt2/pt2_reader.h"

using namespace tidemark;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const Graph graph = Candidate("model.pt2", bytes).is_zip()
                            ? read_pt2(bytes)
                            : pt2::read_model({reinterpret_cast<const char*>(data), size});
    const Accounts accounts(graph);
    build_profile(accounts);
    test::ask_every_question(tape_of_graph(accounts));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Internal) std::abort();
  }
  return 0;
}
