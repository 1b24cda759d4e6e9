// A .case file: a tape in text form, then sections that ask and expect.
//
//   # why the numbers below are right
//   tape 1
//   alloc a 100 Parameter
//
//   === check
//   peak cuda:0 = 512
//
//   === peak --top 3
//   (what the report says)
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tidemark::cases {

struct Section {
  std::string heading;                         // the words after ===, as written
  std::string verb;                            // the first of them
  std::map<std::string, std::string> options;  // "--depth" to "1"; a flag to ""
  std::string body;                            // without blank lines at the end
  std::size_t line = 0;                        // of the heading
};

struct CaseFile {
  std::string tape;
  std::vector<Section> sections;
};

CaseFile parse_case(const std::string& text);
std::string write_case(const CaseFile& file);

}  // namespace tidemark::cases
