// `tidemark convert`: text to binary and back.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "tidemark/cli/input.h"
#include "tidemark/cli/options.h"
#include "tidemark/cli/output_file.h"
#include "tidemark/cli/print.h"
#include "tidemark/cli/verbs/catalogue.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/tape/file_writer.h"
#include "tidemark/engine/tape/text_writer.h"
#include "tidemark/readers/codec.h"

namespace tidemark::cli {
namespace {

struct Given {
  Input in;
  std::string out;
  bool uncompressed = false;
};

enum class Form { Text, Binary };

Form form_of(const Given& given) {
  const bool is_text = given.out == "-" || given.out.ends_with(".txt");
  if (!is_text && !given.out.ends_with(".tape"))
    throw Error(ErrorCode::BadArgument, "the name does not say which form to write", given.out,
                "end it in .tape for binary or .txt for text, or write - for text to the screen");
  if (is_text && given.uncompressed)
    throw Error(ErrorCode::BadArgument, "text is never compressed", given.out,
                "leave --uncompressed away, or end the name in .tape");
  return is_text ? Form::Text : Form::Binary;
}

void write_form(const Tape& tape, const Given& given, Form form, ByteSink& sink) {
  if (form == Form::Binary)
    return write_tape(tape, sink, given.uncompressed ? nullptr : find_codec());
  const std::string text = write_tape_text(tape);
  sink.write(std::as_bytes(std::span(text)));
  sink.flush();
}

// Odd data goes along into the new file; say so now, too.
void warn(const Tape& tape, const std::string& path) {
  for (const Diagnostic& d : tape.diagnostics().all())
    fmt::print(stderr, "tidemark: {}: {}: {}\n", printable(d.where.empty() ? path : d.where),
               name_of(d.severity), printable(d.message));
}

int convert(const Given& given) {
  const Form form = form_of(given);
  const Tape tape = open_input(given.in);
  warn(tape, given.in.file);
  if (given.out == "-") {
    print(write_tape_text(tape));
    return kOk;
  }
  const auto size =
      write_whole_file(given.out, [&](ByteSink& sink) { write_form(tape, given, form, sink); });
  print(fmt::format("{}: {} events, {}\n", printable(given.out),
                    format_count(static_cast<std::int64_t>(tape.size())),
                    format_bytes(static_cast<std::int64_t>(size))));
  return kOk;
}

Action prepare_convert(CLI::App& parser) {
  auto given = std::make_shared<Given>();
  parser.add_option("IN", given->in.file, "a tape, a model or a trace")->required()->type_name("");
  parser
      .add_option("OUT", given->out, "NAME.tape is binary, NAME.txt is text, - is text to stdout")
      ->required()
      ->type_name("");
  add_trace_flags(parser, given->in);
  parser.add_flag("--uncompressed", given->uncompressed, "for readers without zstd");
  return [given] { return convert(*given); };
}

}  // namespace

const Verb kConvert = {"convert", "writes a tape in its other form: text or binary",
                       R"(  tidemark convert run.tape run.txt          to read it, or to edit it
  tidemark convert run.txt run.tape          small again
  tidemark convert run.tape - | grep free)",
                       &prepare_convert};

}  // namespace tidemark::cli
