// Interns strings.
#include "tidemark/engine/base/interner.h"

#include "tidemark/engine/base/error.h"

namespace tidemark {

StringId Interner::intern(std::string_view text) {
  if (auto known = index_.find(text); known != index_.end()) return known->second;
  if (text.size() > kMaxNameBytes)
    throw Error(ErrorCode::BadFormat,
                "a name of " + std::to_string(text.size()) + " bytes is too long",
                std::string(text.substr(0, 32)) + "…",
                "names may have at most " + std::to_string(kMaxNameBytes) + " bytes");
  const StringId id{static_cast<std::uint32_t>(texts_.size())};
  texts_.emplace_back(text);
  index_.emplace(texts_.back(), id);
  return id;
}

}  // namespace tidemark
