// Properties of the tape's three forms and of verify.
#include <algorithm>

#include "tests/property/odd_tape.h"
#include "tests/property/properties.h"
#include "tests/support/tape_content.h"
#include "tests/support/toy_codec.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/tape/text_reader.h"
#include "tidemark/engine/tape/text_writer.h"

namespace tidemark::test {
namespace {

void text_gives_the_tape_back(const Sample& sample) {
  const std::string text = write_tape_text(sample.tape);
  const Tape again = read_tape_text(text);
  expect_equal(first_difference(again, sample.tape), "", "read from text");
  expect_equal(write_tape_text(again), text, "written again");
}

void file_gives_the_tape_back(const Sample& sample) {
  const ToyCodec codec;
  for (const Codec* one : {static_cast<const Codec*>(nullptr), static_cast<const Codec*>(&codec)}) {
    const auto file = file_of(sample.tape, one);
    const Tape again = tape_of(file, one);
    expect_equal(first_difference(again, sample.tape), "", "read from a file");
    expect(file_of(again, one) == file, "the file written again differs");
  }
}

// A file written while the tape grew, flushed now and then; the sizes after each flush.
struct GrownFile {
  MemorySink sink;
  std::vector<std::pair<std::size_t, std::size_t>> flushes;  // bytes, events
  std::size_t kept_events = 0;

  GrownFile(const Sample& sample, bool keep) {
    Random choices = sample.choices();
    TapeWriter writer(sink);
    TapeBuilder builder;
    builder.spill_to(writer, keep);
    write_random_tape(builder, sample.seed, [&] {
      if (!choices.chance(0.1)) return;
      builder.flush();
      flushes.emplace_back(sink.bytes().size(), builder.size());
    });
    kept_events = builder.finish().size();
  }
};

// Text to binary to text: every event, every meta entry and every finding of verify stays.
void an_odd_tape_is_the_same_in_both_forms(const Sample& sample) {
  const Tape tape = odd_tape(sample.seed);
  const Diagnostics found = verify(tape);
  for (const char* code : kEveryProblem) expect(found.find(code) != nullptr, "no ", code);
  const std::string text = write_tape_text(tape);
  const Tape from_text = read_tape_text(text);
  expect_equal(first_difference(from_text, tape), "", "read from text");
  expect(verify(from_text) == found, "verify finds something else in the text");
  const Tape from_file = tape_of(file_of(from_text));
  expect_equal(first_difference(from_file, tape), "", "read from a file");
  expect(verify(from_file) == found, "verify finds something else in the file");
  expect_equal(write_tape_text(from_file), text, "written as text again");
}

void a_spilling_builder_writes_the_same_tape(const Sample& sample) {
  for (bool keep : {true, false}) {
    const GrownFile grown(sample, keep);
    expect_equal(first_difference(tape_of(grown.sink.bytes()), sample.tape), "", "spilled file");
    expect_equal(grown.kept_events, keep ? sample.tape.size() : 0, "events kept");
  }
}

void a_cut_file_gives_a_prefix(const Sample& sample) {
  const GrownFile grown(sample, false);
  Random choices = sample.choices();
  const std::size_t size = choices.below(grown.sink.bytes().size());
  std::size_t events = 0;
  for (auto [bytes, count] : grown.flushes)
    if (bytes <= size) events = count;
  try {
    const Tape cut = tape_of(std::span(grown.sink.bytes()).first(size));
    const auto rows = rows_of(cut), all = rows_of(sample.tape);
    expect(rows.size() >= events && rows.size() <= all.size(), "too few or too many events");
    expect(std::equal(rows.begin(), rows.end(), all.begin()), "the cut file is no prefix");
    expect(cut.diagnostics().find("truncated-file") != nullptr, "the cut was not noticed");
  } catch (const Error& error) {
    expect_equal(events, 0u, "flushed events lost: ", error.what());
  }
}

void verify_counts_what_the_slow_replay_counts(const Sample& sample) {
  std::map<std::string, std::int64_t> found;
  const Diagnostics all = verify(sample.tape);
  for (const Diagnostic& d : all.all()) found[d.code] = d.count;
  for (const auto& [code, count] : sample.slow.problems)
    expect_equal(found[code], count, "problem ", code);
  expect_equal(found.size(), sample.slow.problems.size(), "kinds of problems");
}

void a_lower_limit_gives_a_prefix(const Sample& sample) {
  const Tape half = random_tape(sample.seed, sample.tape.size() / 2);
  expect_equal(half.size(), sample.tape.size() / 2, "events");
  for (std::size_t i = 0; i < half.size(); ++i) expect(half[i] == sample.tape[i], "event ", i);
}

}  // namespace

std::vector<Property> tape_properties() {
  return {{"text gives the tape back", text_gives_the_tape_back},
          {"a file gives the tape back", file_gives_the_tape_back},
          {"an odd tape is the same in both forms", an_odd_tape_is_the_same_in_both_forms},
          {"a spilling builder writes the same tape", a_spilling_builder_writes_the_same_tape},
          {"a cut file gives a prefix", a_cut_file_gives_a_prefix},
          {"verify counts what the slow replay counts", verify_counts_what_the_slow_replay_counts},
          {"the generator's lower limit gives a prefix", a_lower_limit_gives_a_prefix}};
}

}  // namespace tidemark::test
