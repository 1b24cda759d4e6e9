// Finds the verb, parses its flags, runs it.
#include "tidemark/cli/program.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tidemark/cli/failure.h"
#include "tidemark/cli/help.h"
#include "tidemark/cli/print.h"
#include "tidemark/cli/suggest.h"
#include "tidemark/cli/verbs/catalogue.h"

namespace tidemark::cli {
namespace {

std::string shown(std::string_view word) { return std::string(word.substr(0, 40)); }

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("did you mean {}? ", near);
}

int refuse_verb(std::string_view word) {
  std::vector<std::string> names;
  for (const Verb* verb : catalogue()) names.emplace_back(verb->name);
  names.emplace_back("help");
  const bool is_flag = word.starts_with('-');
  return fail(fmt::format("unknown {} \"{}\"", is_flag ? "flag" : "verb", shown(word)),
              is_flag ? "flags come after the verb, as in: tidemark peak FILE --json"
                      : did_you_mean(word, names) + "tidemark --help lists the verbs");
}

std::vector<std::string> flags_of(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::Option* option : parser.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

int refuse_extra(const Verb& verb, const CLI::App& parser, const std::string& word) {
  const bool is_flag = word.starts_with('-');
  const std::string help = fmt::format("tidemark {} --help shows how", verb.name);
  return fail(fmt::format("{}: {} \"{}\"", verb.name,
                          is_flag ? "unknown flag" : "one word too many:", shown(word)),
              is_flag ? did_you_mean(word, flags_of(parser)) + help : help);
}

// The library has exit codes of its own for each mistake; ours is one.
int refuse(const Verb& verb, const CLI::App& parser, const CLI::ParseError& mistake) {
  const std::vector<std::string> extras = parser.remaining();
  if (!extras.empty()) return refuse_extra(verb, parser, extras.front());
  std::string message = mistake.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&mistake)) {
    const std::string flag = message.substr(0, message.find(':'));
    const CLI::Option* option = parser.get_option_no_throw(flag);
    const bool takes_two = option && option->get_expected_min() == 2;
    message = flag + (takes_two ? " needs two values after it" : " needs one value after it");
  }
  return fail(fmt::format("{}: {}", verb.name, message),
              fmt::format("tidemark {} --help shows how", verb.name));
}

void teach(CLI::App& parser, const Verb& verb) {
  parser.option_defaults()->group("Flags");
  parser.set_help_flag("-h,--help", "this help");
  parser.footer(fmt::format("Examples:\n{}", verb.examples));
  parser.get_formatter()->column_width(24);
  parser.get_formatter()->label("REQUIRED", "");
  parser.get_formatter()->label("OPTIONS", "FLAGS");
  parser.get_formatter()->label("Positionals", "Words");
}

int run_verb(const Verb& verb, int argc, char** argv) {
  if (verb.hand_over) return verb.hand_over(argc, argv);
  const std::string name = fmt::format("tidemark {}", verb.name);
  CLI::App parser(fmt::format("{}: {}\n", name, verb.summary), name);
  teach(parser, verb);
  const Action action = verb.prepare(parser);
  try {
    parser.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(parser.help());
    return kOk;
  } catch (const CLI::ParseError& mistake) {
    return refuse(verb, parser, mistake);
  }
  return action();
}

// `help VERB` is VERB --help, also for verbs that another program runs.
int help_with(std::string_view word) {
  const Verb* verb = find_verb(word);
  if (!verb) return refuse_verb(word);
  std::string name(verb->name), flag = "--help";
  char* words[] = {name.data(), flag.data(), nullptr};
  return run_verb(*verb, 2, words);
}

int run_words(int argc, char** argv) {
  if (argc < 2) return fail("a verb is missing", "tidemark --help lists the verbs");
  const std::string_view word = argv[1];
  if (const Verb* verb = find_verb(word)) return run_verb(*verb, argc - 1, argv + 1);
  if (word == "help" && argc > 2) return help_with(argv[2]);
  if (word == "--help" || word == "-h" || word == "help") print(command_help());
  else if (word == "--version") print("tidemark " TIDEMARK_VERSION "\n");
  else return refuse_verb(word);
  return kOk;
}

}  // namespace

int run_program(int argc, char** argv) {
  return run_guarded([=] { return run_words(argc, argv); });
}

}  // namespace tidemark::cli
