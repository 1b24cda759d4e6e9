// Any bytes as a .tape file: an error or a tape that answers every question.
//
// Checksums would stop almost every change at the door, so the blocks of the input are first given
// the right ones; the last bit of the input says whether that is done.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/fuzz/every_question.h"
#include "tests/support/tape_content.h"
#include "tests/support/toy_codec.h"
#include "tidemark/engine/base/checksum.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/little_endian.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/text_reader.h"
#include "tidemark/engine/tape/text_writer.h"

using namespace tidemark;

namespace {

constexpr std::size_t kSumOffset = kBlockHeaderBytes - 8;

void mend_checksums(std::vector<std::byte>& file) {
  for (std::size_t at = kFileHeaderBytes; at + kBlockHeaderBytes <= file.size();) {
    const auto stored = load_little_endian<std::uint64_t>(file.data() + at + 8);
    if (stored > file.size() - at - kBlockHeaderBytes) return;
    Checksum sum;
    sum.update(std::span(file).subspan(at, kSumOffset));
    sum.update(std::span(file).subspan(at + kBlockHeaderBytes, stored));
    const std::uint64_t value = swap_if_big_endian(sum.value());
    std::memcpy(file.data() + at + kSumOffset, &value, sizeof(value));
    at += kBlockHeaderBytes + stored;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> file(size);
  if (size > 0) std::memcpy(file.data(), data, size);
  if (size > 0 && (data[size - 1] & 1) == 0) mend_checksums(file);
  const test::ToyCodec codec;
  try {
    const Tape tape = test::tape_of(file, &codec);
    test::ask_every_question(tape);
    const std::string text = write_tape_text(tape);
    const Tape from_text = read_tape_text(text);
    if (!test::first_difference(tape, from_text).empty()) std::abort();
    if (write_tape_text(from_text) != text) std::abort();
    // What was read whole is written whole, also packed.
    const Tape again = test::tape_of(test::file_of(tape, &codec), &codec);
    if (!test::first_difference(tape, again).empty()) std::abort();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Internal || error.where().empty()) std::abort();
  }
  return 0;
}
