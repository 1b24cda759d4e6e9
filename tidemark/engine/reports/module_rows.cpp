// Marks what is hidden, level by level, until the rows fit.
#include "tidemark/engine/reports/module_rows.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "tidemark/engine/reports/module_tree.h"

namespace tidemark {
namespace {

constexpr std::size_t kNoParent = SIZE_MAX;
constexpr std::size_t kLayersShownWhole = 4;

struct Node {
  std::string_view path, name;
  const ScopeFacts* scope = nullptr;
  std::int64_t bytes = 0;
  std::size_t parent = kNoParent, depth = 1;
};

bool is_number(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

class Tree {
 public:
  Tree(const ScopesAnswer& scopes, const DevicePeak& peak) : total_(peak.allocated_bytes) {
    std::map<std::string_view, std::int64_t> owned;
    for (const ScopeShare& share : peak.modules) owned[share.scope] = share.allocated_bytes;
    std::vector<std::size_t> above;
    for (const ScopeFacts& scope : scopes.scopes) {
      while (!above.empty() && !is_below(scope.path, nodes_[above.back()].path)) above.pop_back();
      Node node{scope.path, scope.path, &scope, owned[scope.path]};
      if (!above.empty()) {
        node.parent = above.back();
        node.depth = above.size() + 1;
        node.name.remove_prefix(nodes_[node.parent].path.size() + 1);
      }
      above.push_back(nodes_.size());
      nodes_.push_back(node);
    }
    for (const Node& node : nodes_) deepest_ = std::max(deepest_, node.depth);
    outside_ = owned[""];
  }

  std::size_t deepest() const { return deepest_; }

  std::vector<ModuleRow> rows(std::size_t depth, const ModuleChoice& choice) const {
    const std::vector<bool> is_hidden = hidden(depth, choice);
    std::map<std::size_t, std::size_t> omissions;  // by parent: the row that says how many more
    std::map<std::size_t, std::size_t> counts;
    std::vector<ModuleRow> rows;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      if (!is_hidden[n]) {
        rows.push_back({label_of(n, depth), node.bytes, node.scope});
        continue;
      }
      if (is_hidden_below(node, is_hidden) || node.depth > depth) continue;
      const auto [row, is_new] = omissions.try_emplace(node.parent, rows.size());
      if (is_new) rows.emplace_back();
      rows[row->second].bytes += node.bytes;
      rows[row->second].label =
          indented(node.depth, "… " + std::to_string(++counts[node.parent]) + " more");
    }
    if (outside_ > 0 && !rows.empty()) rows.push_back({"(outside of modules)", outside_, nullptr});
    return rows;
  }

 private:
  static std::string indented(std::size_t depth, std::string_view name) {
    return std::string(2 * std::min(depth - 1, kDeepestIndent), ' ').append(name);
  }
  // A name, and a sign that there is more below it than is shown.
  std::string label_of(std::size_t n, std::size_t depth) const {
    const Node& node = nodes_[n];
    const bool has_more = node.depth == depth && n + 1 < nodes_.size() && nodes_[n + 1].parent == n;
    return indented(node.depth, node.name.empty() ? "(no name)" : node.name)
        .append(has_more ? " …" : "");
  }
  bool is_hidden_below(const Node& node, const std::vector<bool>& is_hidden) const {
    return node.parent != kNoParent && is_hidden[node.parent];
  }
  bool is_small(const Node& node) const { return node.bytes < total_ / 100; }

  // A hidden module hides all below it: parents stand before their children.
  std::vector<bool> hidden(std::size_t depth, const ModuleChoice& choice) const {
    std::vector<bool> is_hidden(nodes_.size());
    if (choice.folds_layers) fold_layers(is_hidden);
    if (depth == 1) hide_small_roots(is_hidden, choice.most_rows);
    if (choice.hides_small) hide_small(is_hidden);
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].depth > depth || is_hidden_below(nodes_[n], is_hidden)) is_hidden[n] = true;
    return is_hidden;
  }

  // A single one needs a row of its own anyway.
  void hide_small(std::vector<bool>& is_hidden) const {
    std::map<std::size_t, std::vector<std::size_t>> small;  // by parent
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].parent != kNoParent && is_small(nodes_[n]))
        small[nodes_[n].parent].push_back(n);
    for (const auto& [parent, nodes] : small)
      if (nodes.size() > 1)
        for (std::size_t n : nodes) is_hidden[n] = true;
  }

  void fold_layers(std::vector<bool>& is_hidden) const {
    std::map<std::size_t, std::vector<std::size_t>> numbered;  // by parent
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (is_number(nodes_[n].name)) numbered[nodes_[n].parent].push_back(n);
    for (const auto& [parent, layers] : numbered)
      if (layers.size() > kLayersShownWhole)
        for (std::size_t i = 1; i + 1 < layers.size(); ++i) is_hidden[layers[i]] = true;
  }

  // Of too many roots those that own most are kept.
  void hide_small_roots(std::vector<bool>& is_hidden, std::size_t most) const {
    std::vector<std::size_t> roots;
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].parent == kNoParent && !is_hidden[n]) roots.push_back(n);
    if (roots.size() <= most) return;
    std::stable_sort(roots.begin(), roots.end(), [&](std::size_t a, std::size_t b) {
      return nodes_[a].bytes > nodes_[b].bytes;
    });
    for (std::size_t i = most - std::min<std::size_t>(most, 2); i < roots.size(); ++i)
      is_hidden[roots[i]] = true;
  }

  std::vector<Node> nodes_;
  std::int64_t total_, outside_ = 0;
  std::size_t deepest_ = 1;
};

}  // namespace

std::vector<ModuleRow> choose_modules(const ScopesAnswer& scopes, const DevicePeak& peak,
                                      const ModuleChoice& choice) {
  const Tree tree(scopes, peak);
  std::vector<ModuleRow> rows = tree.rows(tree.deepest(), choice);
  for (std::size_t depth = tree.deepest(); depth > 1 && rows.size() > choice.most_rows;)
    rows = tree.rows(--depth, choice);
  return rows;
}

}  // namespace tidemark
