// Any bytes as an execution trace, packed or not: an error, or a tape that answers.
#include <cstdlib>
#include <memory>

#include "tests/fuzz/every_question.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/readers/chakra/execution_reader.h"
#include "tidemark/readers/chakra/execution_tape.h"
#include "tidemark/readers/unread/first_bytes.h"
#ifdef TIDEMARK_HAS_GZIP
#include "tidemark/readers/gzip/gzip_source.h"
#endif

using namespace tidemark;

namespace {

Tape read(ByteSource& document) {
  Diagnostics found;
  const chakra::ExecutionNodes nodes = chakra::read_nodes(document, true, found);
  return chakra::tape_of_nodes(nodes, found);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  MemorySource plain(bytes);
  try {
#ifdef TIDEMARK_HAS_GZIP
    if (is_gzip(bytes)) {
      GzipSource unpacked(plain);
      test::ask_every_question(read(unpacked));
      return 0;
    }
#endif
    test::ask_every_question(read(plain));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Internal) std::abort();
  }
  return 0;
}
