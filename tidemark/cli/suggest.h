// Finds the word that a mistyped one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tidemark::cli {

// The nearest candidate by edits, or one that begins with the word; empty when none is near.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace tidemark::cli
