// The scopes as a tree: depths, sums over subtrees, and the order in which they are listed.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/tape/tables.h"

namespace tidemark {

// A picture of the tables as they are now; every parent stands before its children there.
class ScopeTree {
 public:
  explicit ScopeTree(const Tables& tables);

  std::size_t size() const { return depths_.size(); }
  std::size_t depth(ScopeId scope) const { return depths_[scope.value]; }  // 1 for a root
  // Adds to each scope's bytes those of all scopes below it.
  void add_up(std::vector<std::int64_t>& bytes) const;
  // Parents before children, siblings in natural order; only scopes that `is_listed` marks, or
  // that have such a scope below them.
  std::vector<ScopeId> order(std::vector<bool> is_listed) const;

 private:
  ScopeId parent(std::size_t scope) const { return tables_.scopes()[scope].parent; }

  const Tables& tables_;
  std::vector<std::size_t> depths_;
};

}  // namespace tidemark
