// Two texts line by line, for people.
#pragma once

#include <string>

namespace tidemark::cases {

// Lines of `expected` alone begin with "-", those of `found` alone with "+", shared ones with " ".
std::string difference(const std::string& expected, const std::string& found);

}  // namespace tidemark::cases
