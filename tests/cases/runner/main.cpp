// tidemark_cases DIR [--update]: runs every .case file below a folder.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "tests/cases/runner/checks.h"
#include "tests/cases/runner/difference.h"
#include "tests/cases/runner/questions.h"

namespace {

namespace fs = std::filesystem;
using namespace tidemark::cases;

std::vector<fs::path> case_files(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".case") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A body as it is kept in the file: without blank lines at the end.
std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.empty() ? text : text + "\n";
}

class Runner {
 public:
  explicit Runner(bool update) : update_(update) {}

  void run(const fs::path& path, const std::string& name) {
    const std::string text = read_file(path);
    CaseFile file = parse_case(text);
    Tapes tapes(file);
    for (Section& section : file.sections) run(section, tapes, name);
    if (update_ && write_case(file) != text)
      std::ofstream(path, std::ios::binary) << write_case(file);
  }

  std::size_t passed() const { return passed_; }
  std::size_t failed() const { return failed_; }

 private:
  void run(Section& section, Tapes& tapes, const std::string& name) {
    if (section.verb == "tape B") return;
    const bool is_check = section.verb == "check";
    if (!is_check && !is_question(section.verb))
      return fail(section, name, "nobody knows this heading\n");
    const std::string found = trimmed(is_check ? check(section, tapes) : answer(section, tapes));
    if (found == section.body) {
      ++passed_;
    } else if (update_ && !is_check) {
      section.body = found;
      ++passed_;
    } else {
      fail(section, name, difference(section.body, found));
    }
  }

  void fail(const Section& section, const std::string& name, const std::string& what) {
    ++failed_;
    std::cout << name << ":" << section.line << ": === " << section.heading
              << "  (- expected, + found)\n"
              << what << "\n";
  }

  bool update_;
  std::size_t passed_ = 0, failed_ = 0;
};

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  const bool update = std::count(arguments.begin(), arguments.end(), "--update") > 0;
  const std::size_t folders = arguments.size() - (update ? 1 : 0);
  if (folders != 1 || !fs::is_directory(arguments.front())) {
    std::cerr << "usage: tidemark_cases DIR [--update]\n";
    return 2;
  }
  Runner runner(update);
  const fs::path folder = arguments.front();
  for (const fs::path& path : case_files(folder))
    runner.run(path, fs::relative(path, folder).string());
  std::cout << runner.passed() << " passed, " << runner.failed() << " failed\n";
  return runner.failed() == 0 && runner.passed() > 0 ? 0 : 1;
}
