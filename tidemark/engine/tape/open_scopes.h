// The scopes that are open, and which of them is innermost; ends need not nest.
//
// An ended scope leaves a gap, and gaps at the top are dropped, so every call is O(1) amortised:
//
//   begin a, b, a   |a b a|     end b   |a - a|     end a   |a|
#pragma once

#include <cstddef>
#include <vector>

#include "tidemark/engine/base/ids.h"

namespace tidemark {

class OpenScopes {
 public:
  void begin(ScopeId scope) {
    if (scope.value >= places_.size()) places_.resize(scope.value + std::size_t{1});
    places_[scope.value].push_back(open_.size());
    open_.push_back(scope);
    ++count_;
  }

  // Ends the newest call of a scope; one that is not open is ignored.
  void end(ScopeId scope) {
    if (scope.value >= places_.size() || places_[scope.value].empty()) return;
    open_[places_[scope.value].back()] = {};
    places_[scope.value].pop_back();
    while (!open_.empty() && !open_.back()) open_.pop_back();
    --count_;
  }

  ScopeId innermost() const { return open_.empty() ? ScopeId() : open_.back(); }
  std::size_t size() const { return count_; }

 private:
  std::vector<ScopeId> open_;                      // in the order of begins, with gaps
  std::vector<std::vector<std::size_t>> places_;  // in open_, by scope
  std::size_t count_ = 0;
};

}  // namespace tidemark
