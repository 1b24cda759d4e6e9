// Looks what each file is.
#include "tidemark/cli/several_inputs.h"

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/catalogue.h"
#include "tidemark/readers/chakra/execution_trace.h"

namespace tidemark::cli {
namespace {

bool is_companion(const std::string& path) {
  return &find_reader(Candidate(path)) == &kExecutionTrace;
}

}  // namespace

std::vector<Input> pair_up(const Input& first, const std::vector<std::string>& more) {
  if (more.empty()) return {first};
  if (!first.companion.empty())
    throw Error(ErrorCode::BadArgument, "--with is for one trace", first.companion,
                "name the execution traces among the files instead: they are told apart");
  std::vector<std::string> files = {first.file}, companions, others;
  files.insert(files.end(), more.begin(), more.end());
  for (const std::string& file : files) (is_companion(file) ? companions : others).push_back(file);
  if (others.empty()) others.swap(companions);
  if (!companions.empty() && companions.size() != others.size())
    throw Error(ErrorCode::BadArgument, "these are not as many execution traces as other files",
                companions.front(), "name one execution trace for each, in the same order");
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < others.size(); ++i) {
    Input input = first;
    input.file = others[i];
    if (!companions.empty()) input.companion = companions[i];
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace tidemark::cli
