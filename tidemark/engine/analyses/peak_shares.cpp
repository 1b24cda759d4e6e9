// Sums storages by what they have in common; names come last, for what is listed only.
#include "tidemark/engine/analyses/peak_shares.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/result_shape.h"
#include "tidemark/engine/analyses/scope_tree.h"
#include "tidemark/engine/base/saturating.h"

namespace tidemark {
namespace {

template <class Share>
void add(Share& share, const LiveStorage& one) {
  share.allocated_bytes = add_saturating(share.allocated_bytes, one.state.charged);
  std::int64_t& sum = share.categories[static_cast<std::size_t>(one.state.category())];
  sum = add_saturating(sum, one.state.charged);
}

// Most bytes first, of equals the first met; at most `top`.
template <class Share>
std::vector<Share> ranked(std::vector<Share> shares, std::size_t top) {
  std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return a.allocated_bytes > b.allocated_bytes;
  });
  if (shares.size() > top) shares.resize(top);
  return shares;
}

// The live set is in no particular order: the order of births makes answers repeatable.
std::vector<LiveStorage> by_birth(std::vector<LiveStorage> alive) {
  std::sort(alive.begin(), alive.end(), [](const LiveStorage& a, const LiveStorage& b) {
    return std::tie(a.born.at.event, a.storage) < std::tie(b.born.at.event, b.storage);
  });
  return alive;
}

// Storages with the same key are one row; rows stand in the order in which they were met.
template <class Key, class Row>
class Grouping {
 public:
  // The row of a key, and whether it is new.
  std::pair<Row&, bool> row(const Key& key) {
    const auto [found, is_new] = places_.try_emplace(key, rows_.size());
    if (is_new) rows_.emplace_back();
    return {rows_[found->second], is_new};
  }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  std::map<Key, std::size_t> places_;
  std::vector<Row> rows_;
};

// A site of one storage that is not counted yet.
SiteShare describe_site(const LiveStorage& one, const Tables& tables) {
  SiteShare site;
  site.each_bytes = one.state.charged;
  site.category = one.state.category();
  site.op = tables.op_name(one.born.call);
  site.source = tables.source(one.born.stack);
  site.shape = shape_of_result(tables, one.born.call, one.state.bytes());
  site.scope = tables.scope_path(one.owner);
  return site;
}

}  // namespace

std::vector<StorageFact> largest_of(std::vector<LiveStorage> alive, std::size_t top,
                                    const Tables& tables) {
  const auto larger = [](const LiveStorage& a, const LiveStorage& b) {
    return a.state.charged != b.state.charged ? a.state.charged > b.state.charged
                                              : a.storage < b.storage;
  };
  const auto end = alive.begin() + static_cast<std::ptrdiff_t>(std::min(top, alive.size()));
  std::partial_sort(alive.begin(), end, alive.end(), larger);
  std::vector<StorageFact> facts;
  for (auto one = alive.begin(); one != end; ++one) facts.push_back(describe(tables, *one));
  return facts;
}

std::vector<ScopeShare> owners_of(const std::vector<LiveStorage>& alive, const Tables& tables) {
  std::map<ScopeId, ScopeShare> by_scope;
  for (const LiveStorage& one : alive) add(by_scope[one.owner], one);
  std::vector<ScopeShare> shares;
  for (auto& [scope, share] : by_scope) {
    share.scope = tables.scope_path(scope);
    shares.push_back(std::move(share));
  }
  return ranked(std::move(shares), SIZE_MAX);
}

std::vector<ScopeShare> modules_of(const std::vector<LiveStorage>& alive, std::size_t depth,
                                   const Tables& tables) {
  const ScopeTree tree(tables);
  std::map<ScopeId, ScopeShare> sums;  // by scope; of the outside, by none
  std::vector<bool> is_listed(tree.size());
  for (const LiveStorage& one : alive) {
    if (!one.owner) add(sums[{}], one);
    for (ScopeId at = one.owner; at; at = tables.scopes()[at.value].parent) {
      if (depth > 0 && tree.depth(at) > depth) continue;
      is_listed[at.value] = true;
      add(sums[at], one);
    }
  }
  std::vector<ScopeShare> modules;
  for (ScopeId id : tree.order(std::move(is_listed))) {
    modules.push_back(std::move(sums[id]));
    modules.back().scope = tables.scope_path(id);
  }
  if (const auto outside = sums.find({}); outside != sums.end())
    modules.push_back(std::move(outside->second));
  return modules;
}

// Ids first, names after: a million storages have a few thousand calls.
std::vector<SiteShare> sites_of(const std::vector<LiveStorage>& alive, std::size_t top,
                                const Tables& tables) {
  struct Kind {
    LiveStorage first;
    std::int64_t count = 0;
  };
  Grouping<std::tuple<Category, CallId, StackId, std::int64_t>, Kind> kinds;
  for (const LiveStorage& one : by_birth(alive)) {
    auto [kind, is_new] =
        kinds.row({one.state.category(), one.born.call, one.born.stack, one.state.bytes()});
    if (is_new) kind.first = one;
    ++kind.count;
  }
  Grouping<std::tuple<Category, std::string, std::string, std::int64_t, std::string>, SiteShare>
      sites;
  for (const auto& [first, count] : kinds.take()) {
    SiteShare one = describe_site(first, tables);
    auto [site, is_new] = sites.row({one.category, one.op, one.source, one.each_bytes, one.shape});
    if (is_new) site = std::move(one);
    site.count += count;
    site.allocated_bytes = multiply_saturating(site.each_bytes, site.count);
  }
  return ranked(sites.take(), top);
}

std::vector<LineShare> lines_of(const std::vector<LiveStorage>& alive, std::size_t top,
                                const Tables& tables) {
  Grouping<StackId, LineShare> stacks;
  for (const LiveStorage& one : by_birth(alive)) {
    auto [stack, is_new] = stacks.row(one.born.stack);
    if (is_new) stack.source = tables.source(one.born.stack);
    ++stack.count;
    add(stack, one);
  }
  Grouping<std::string, LineShare> lines;
  for (LineShare& stack : stacks.take()) {
    auto [line, is_new] = lines.row(stack.source);
    if (is_new) {
      line = std::move(stack);
      continue;
    }
    line.count += stack.count;
    line.allocated_bytes = add_saturating(line.allocated_bytes, stack.allocated_bytes);
    for (std::size_t c = 0; c < kCategoryCount; ++c)
      line.categories[c] = add_saturating(line.categories[c], stack.categories[c]);
  }
  return ranked(lines.take(), top);
}

}  // namespace tidemark
