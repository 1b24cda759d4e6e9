// Any bytes as tape text: an error or a tape that is written and read again the same.
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/every_question.h"
#include "tests/support/tape_content.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/text_reader.h"
#include "tidemark/engine/tape/text_writer.h"

using namespace tidemark;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Tape tape = read_tape_text({reinterpret_cast<const char*>(data), size});
    test::ask_every_question(tape);
    const std::string text = write_tape_text(tape);
    const Tape again = read_tape_text(text);
    if (!test::first_difference(tape, again).empty() || write_tape_text(again) != text)
      std::abort();
    if (!test::first_difference(tape, test::tape_of(test::file_of(tape))).empty()) std::abort();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Internal || error.where().empty()) std::abort();
  }
  return 0;
}
