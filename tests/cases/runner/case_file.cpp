// Cuts a .case file at its headings and puts it together again.
#include "tests/cases/runner/case_file.h"

#include <sstream>

namespace tidemark::cases {
namespace {

constexpr std::string_view kHeading = "=== ";

void trim_end(std::string& text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (!text.empty()) text += '\n';
}

Section parse_heading(const std::string& heading, std::size_t line) {
  Section section{.heading = heading, .line = line};
  std::istringstream words(heading);
  words >> section.verb;
  std::string word, option;
  while (words >> word) {
    if (word.starts_with("--")) section.options[option = word];
    else if (!option.empty()) section.options[option] = word;
    else section.verb += " " + word;  // "tape B"
  }
  return section;
}

}  // namespace

CaseFile parse_case(const std::string& text) {
  CaseFile file;
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with(kHeading))
      file.sections.push_back(parse_heading(line.substr(kHeading.size()), number));
    else (file.sections.empty() ? file.tape : file.sections.back().body) += line + "\n";
  }
  trim_end(file.tape);
  for (Section& section : file.sections) trim_end(section.body);
  return file;
}

std::string write_case(const CaseFile& file) {
  std::string text = file.tape;
  for (const Section& section : file.sections) {
    text.append("\n").append(kHeading).append(section.heading).append("\n").append(section.body);
  }
  return text;
}

}  // namespace tidemark::cases
