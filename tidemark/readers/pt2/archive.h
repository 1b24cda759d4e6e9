// The model's JSON out of a .pt2 archive, which is a zip file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tidemark::pt2 {

// True where the bytes begin as a zip file does.
bool looks_like_archive(std::span<const std::byte> beginning);

// The text of models/model.json. Throws Error for what is no archive, has no such file, or is
// damaged.
std::string read_model_json(std::span<const std::byte> archive);

}  // namespace tidemark::pt2
