// Orders names as people do: "layers.2" before "layers.10".
#pragma once

#include <string_view>

namespace tidemark {

// True when a comes before b: digit runs compare as numbers, the rest byte by byte.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace tidemark
