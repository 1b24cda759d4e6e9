// `tidemark report`: the first look at a tape or an exported model.
#include <CLI/CLI.hpp>

#include <algorithm>

#include "tidemark/cli/question.h"
#include "tidemark/cli/verbs/catalogue.h"
#include "tidemark/engine/analyses/overview.h"

namespace tidemark::cli {
namespace {

Action prepare(CLI::App& parser) {
  auto asked = ask<OverviewOptions>();
  add_file(parser, asked->file);
  add_bind(parser, asked->dimensions);
  add_selection(parser, asked->options);
  // Who asks for modules wants to see what they are made of.
  add_depth(parser, asked->options.depth)->each([asked](const std::string&) {
    asked->output.detail = std::max(asked->output.detail, Detail::Modules);
  });
  // More than fit on a page, for who asks for them.
  add_top(parser, asked->options.top, "source lines and kinds of storages")
      ->each([asked](const std::string&) { asked->output.rows = SIZE_MAX; });
  add_full(parser, asked->output);
  add_output(parser, asked->output);
  return answering(asked, &find_overview);
}

}  // namespace

const Verb kReport = {"report", "the first look: will it fit, what eats it, when, and where",
                      R"(  tidemark report run.tape
  tidemark report run.tape --step 2          the second step alone
  tidemark report run.tape --depth 0         down to the smallest module
  tidemark report model.pt2 --bind batch=32  an exported model, without running it)",
                      &prepare};

}  // namespace tidemark::cli
