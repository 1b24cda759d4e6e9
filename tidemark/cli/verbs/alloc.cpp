// `tidemark alloc`: settings of the caching allocator side by side.
#include "tidemark/engine/analyses/alloc.h"

#include <CLI/CLI.hpp>

#include "tidemark/cli/question.h"
#include "tidemark/cli/verbs/catalogue.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/units.h"

namespace tidemark::cli {
namespace {

std::int64_t memory_of(const std::string& text) {
  const auto bytes = parse_bytes(text);
  if (!bytes || *bytes <= 0)
    throw Error(ErrorCode::BadArgument, "no amount of memory: \"" + text.substr(0, 40) + "\"",
                "--memory", "as in 24GiB");
  return *bytes;
}

Action prepare_alloc(CLI::App& parser) {
  auto asked = ask<AllocOptions>();
  auto memory = std::make_shared<std::string>();
  add_input(parser, asked->input);
  add_selection(parser, asked->options);
  parser
      .add_option("--alloc-conf", asked->options.settings,
                  "compare these instead, as in PYTORCH_CUDA_ALLOC_CONF; may be given often")
      ->type_name("SETTINGS")
      ->allow_extra_args(false);
  parser.add_option("--memory", *memory, "of the GPU, instead of what the tape says: 24GiB")
      ->type_name("SIZE");
  add_output(parser, asked->output);
  return [asked, memory, answer = answering(asked, &find_alloc)] {
    if (!memory->empty()) asked->options.memory_bytes = memory_of(*memory);
    return answer();
  };
}

}  // namespace

const Verb kAlloc = {"alloc", "what PyTorch's allocator reserves, and which setting is worth it",
                     R"(  tidemark alloc run.tape
  tidemark alloc run.tape --memory 24GiB     retries on a smaller GPU
  tidemark alloc run.tape --alloc-conf expandable_segments:True)",
                     &prepare_alloc};

}  // namespace tidemark::cli
