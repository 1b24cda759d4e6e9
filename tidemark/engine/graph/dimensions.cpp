// A list, and an index of its names.
#include "tidemark/engine/graph/dimensions.h"

namespace tidemark {

std::size_t Dimensions::number_of(std::string_view name) {
  if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
  numbers_.emplace(name, all_.size());
  all_.push_back({.name = std::string(name), .hint = {}, .lower = {}, .upper = {}});
  return all_.size() - 1;
}

const Dimension* Dimensions::find(std::string_view name) const {
  const auto known = numbers_.find(name);
  return known == numbers_.end() ? nullptr : &all_[known->second];
}

Dimension* Dimensions::find(std::string_view name) {
  const auto known = numbers_.find(name);
  return known == numbers_.end() ? nullptr : &all_[known->second];
}

void Dimensions::cut(std::size_t size) {
  for (; all_.size() > size; all_.pop_back()) numbers_.erase(all_.back().name);
}

}  // namespace tidemark
