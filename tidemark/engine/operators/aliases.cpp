// Looks operators up in the generated table.
#include "tidemark/engine/operators/aliases.h"

#include <algorithm>
#include <set>

#include "tidemark/engine/operators/alias_table.h"

namespace tidemark::operators {
namespace {

using Names = std::set<std::string_view>;

Names split(std::string_view words) {
  Names names;
  while (!words.empty()) {
    const std::size_t end = words.find(' ');
    names.insert(words.substr(0, end));
    words.remove_prefix(end + 1);
  }
  return names;
}

// aten::add_ and aten::_index_put_impl_, but not aten::__and__.
bool is_in_place(std::string_view name) { return name.ends_with('_') && !name.ends_with("__"); }

bool same_strides(const Layout& a, const Layout& b) {
  for (std::size_t i = 0; i < a.sizes.size(); ++i)
    if (a.sizes[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

}  // namespace

Alias alias_of_first_argument(std::string_view name) {
  static const Names always = split(kAlwaysViews), sometimes = split(kSometimesViews);
  if (!name.starts_with("aten::")) return Alias::Never;
  name.remove_prefix(6);
  name = name.substr(0, name.find('.'));
  if (is_in_place(name) || always.contains(name)) return Alias::Always;
  return sometimes.contains(name) ? Alias::Sometimes : Alias::Never;
}

bool is_dropout(std::string_view name) {
  return name == "aten::dropout" || name == "aten::feature_dropout" ||
         name == "aten::alpha_dropout" || name == "aten::feature_alpha_dropout";
}

bool is_contiguous(const Layout& layout) {
  if (std::ranges::count(layout.sizes, 0) > 0) return true;
  std::int64_t wanted = 1;
  for (std::size_t i = layout.sizes.size(); i-- > 0;) {
    if (layout.sizes[i] != 1 && layout.strides[i] != wanted) return false;
    if (layout.sizes[i] > INT64_MAX / std::max<std::int64_t>(wanted, 1)) return false;
    wanted *= layout.sizes[i];
  }
  return true;
}

bool is_view_of(const Layout& argument, const Layout& result) {
  if (argument.dtype != result.dtype || argument.device != result.device) return false;
  if (std::ranges::equal(argument.sizes, result.sizes)) return same_strides(argument, result);
  // A copy has no gaps; a view that has none is one of something that has none.
  return is_contiguous(argument) || !is_contiguous(result);
}

}  // namespace tidemark::operators
