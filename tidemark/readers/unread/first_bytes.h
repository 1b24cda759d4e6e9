// What first bytes look like: pickles, gzip, JSON.
#pragma once

#include <string_view>

namespace tidemark {

// A pickle of protocol 2 or later.
bool is_pickle(std::string_view bytes);
// Whether this text is in the pickle as a whole string.
bool has_pickled(std::string_view bytes, std::string_view text);

bool is_gzip(std::string_view bytes);

// The first that is no blank; 0 where there is none.
char first_character(std::string_view text);
// "KEY", quoted as in JSON.
bool has_key(std::string_view json, std::string_view key);

}  // namespace tidemark
