// Where a model stands in a .pt2 archive.
#pragma once

#include <string_view>

namespace tidemark::pt2 {

// "NAME/models/model.json", whatever the archive's own folder is called.
inline bool is_model_path(std::string_view member) {
  return member.ends_with(".json") &&
         (member.starts_with("models/") || member.find("/models/") != std::string_view::npos);
}

}  // namespace tidemark::pt2
