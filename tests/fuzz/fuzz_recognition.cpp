// Any bytes under any name as a file of unknown kind: one reader takes it, and says why it does not
// read it where it does not.
#include <array>
#include <cstdlib>
#include <span>

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/catalogue.h"

using namespace tidemark;

namespace {

constexpr std::array kNames = {"run", "train.py", "trace.json.gz", "model.onnx", "model.pt2"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const char* name : kNames) {
    const Candidate file(name, bytes);
    for (const Reader* reader : readers()) reader->looks_like(file);
    const Reader& found = find_reader(file);
    if (!found.read && (found.name.empty() || found.instead.empty())) std::abort();
  }
  return 0;
}
