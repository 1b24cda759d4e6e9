// Reads the generated table of schemas.
#include "tidemark/engine/operators/schemas.h"

#include <unordered_map>
#include <utility>

#include "tidemark/engine/operators/schema_table.h"

namespace tidemark::operators {
namespace {

// In the order of ArgumentType.
constexpr std::string_view kLetters = "aTLNbifcno";

// Words up to the next one of these characters, which is skipped.
std::string_view take_word(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return word;
}

// "add TTn|!TTn;" and so on: letters of all overloads by name, without "aten::" where it is that.
std::unordered_map<std::string_view, std::string_view> read_table() {
  std::unordered_map<std::string_view, std::string_view> table;
  for (std::string_view text = kSchemas; !text.empty();) {
    std::string_view entry = take_word(text, ';');
    const std::string_view name = take_word(entry, ' ');
    table.emplace(name, entry);
  }
  return table;
}

}  // namespace

Schema schema_of_letters(std::string_view letters) {
  Schema schema;
  Argument argument;
  for (char letter : letters) {
    if (letter == '?') argument.optional = true;
    else if (letter == '!') argument.written = true;
    else {
      const std::size_t type = kLetters.find(letter);
      argument.type =
          type < kLetters.size() ? static_cast<ArgumentType>(type) : ArgumentType::Other;
      schema.push_back(std::exchange(argument, {}));
    }
  }
  return schema;
}

std::vector<Schema> find_schemas(std::string_view name) {
  static const auto table = read_table();
  constexpr std::string_view kAten = "aten::";
  const auto found = table.find(name.starts_with(kAten) ? name.substr(kAten.size()) : name);
  std::vector<Schema> schemas;
  if (found == table.end() || name.find("::") == std::string_view::npos) return schemas;
  for (std::string_view all = found->second;;) {
    schemas.push_back(schema_of_letters(take_word(all, '|')));
    if (all.empty()) return schemas;
  }
}

}  // namespace tidemark::operators
