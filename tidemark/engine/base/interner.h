// Each distinct string once, named by a StringId.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tidemark/engine/base/ids.h"

namespace tidemark {

// Longer names are refused: no program has them, damaged input does.
inline constexpr std::size_t kMaxNameBytes = 65'535;

class Interner {
 public:
  // The id of this text, new or known. Throws Error for a name over kMaxNameBytes.
  StringId intern(std::string_view text);
  std::string_view operator[](StringId id) const {
    return id ? std::string_view(texts_[id.value]) : std::string_view();
  }
  std::size_t size() const { return texts_.size(); }

  Interner() = default;
  Interner(Interner&&) = default;
  Interner& operator=(Interner&&) = default;
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

 private:
  std::deque<std::string> texts_;  // a deque: the index's keys point into it
  std::unordered_map<std::string_view, StringId> index_;
};

}  // namespace tidemark
