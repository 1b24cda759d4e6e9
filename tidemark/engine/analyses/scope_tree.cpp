// Walks the tree without recursion: damaged input may nest as deep as it likes.
#include "tidemark/engine/analyses/scope_tree.h"

#include <algorithm>

#include "tidemark/engine/base/natural_order.h"
#include "tidemark/engine/base/saturating.h"

namespace tidemark {

ScopeTree::ScopeTree(const Tables& tables) : tables_(tables), depths_(tables.scopes().size(), 1) {
  for (std::size_t s = 0; s < size(); ++s)
    if (parent(s)) depths_[s] = depths_[parent(s).value] + 1;
}

void ScopeTree::add_up(std::vector<std::int64_t>& bytes) const {
  for (std::size_t s = size(); s-- > 0;)
    if (parent(s)) bytes[parent(s).value] = add_saturating(bytes[parent(s).value], bytes[s]);
}

std::vector<ScopeId> ScopeTree::order(std::vector<bool> is_listed) const {
  std::vector<std::vector<ScopeId>> below(size());
  std::vector<ScopeId> waiting;  // roots, then what is left of each level
  for (std::size_t s = size(); s-- > 0;) {
    if (!is_listed[s]) continue;
    if (parent(s)) is_listed[parent(s).value] = true;
    auto& siblings = parent(s) ? below[parent(s).value] : waiting;
    siblings.push_back(ScopeId(static_cast<std::uint32_t>(s)));
  }
  // Last first: the next one to list is taken from the back.
  const auto later = [&](ScopeId a, ScopeId b) {
    return natural_less(tables_.scope_path(b), tables_.scope_path(a));
  };
  std::stable_sort(waiting.begin(), waiting.end(), later);
  std::vector<ScopeId> listed;
  while (!waiting.empty()) {
    listed.push_back(waiting.back());
    waiting.pop_back();
    std::vector<ScopeId>& children = below[listed.back().value];
    std::stable_sort(children.begin(), children.end(), later);
    waiting.insert(waiting.end(), children.begin(), children.end());
  }
  return listed;
}

}  // namespace tidemark
