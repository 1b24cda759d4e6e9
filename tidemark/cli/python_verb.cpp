// Starts the Python of this environment.
#include "tidemark/cli/python_verb.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tidemark/cli/failure.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

// The Python beside this program is the one it was installed with; else the one the shell finds.
std::string find_python() {
  if (const char* named = std::getenv("TIDEMARK_PYTHON")) return named;
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  if (!problem)
    for (const char* name : {"python3", "python"})
      if (const fs::path beside = self.parent_path() / name; fs::exists(beside)) return beside;
  return "python3";
}

}  // namespace

int run_in_python(int argc, char** argv) {
  const std::string python = find_python();
  std::vector<const char*> words = {python.c_str(), "-m", "tidemark"};
  words.insert(words.end(), argv, argv + argc);
  words.push_back(nullptr);
  execvp(python.c_str(), const_cast<char* const*>(words.data()));
  return fail(fmt::format("cannot start {}", python),
              "it needs the Python that tidemark was installed with; TIDEMARK_PYTHON names one");
}

}  // namespace tidemark::cli
