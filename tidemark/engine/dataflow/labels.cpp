// Three columns of categories, asked from the widest to the narrowest.
#include "tidemark/engine/dataflow/labels.h"

#include <utility>

namespace tidemark::dataflow {

VersionRows::VersionRows(const std::vector<std::int32_t>& versions) {
  begins_.reserve(versions.size() + 1);
  for (std::int32_t highest : versions)
    begins_.push_back(begins_.back() + static_cast<std::uint32_t>(highest) + 1);
}

Labels::Labels(const Keys& keys, VersionRows rows)
    : keys_(&keys),
      rows_(std::move(rows)),
      of_tensors_(keys.tensor_count, Category::Unknown),
      of_keys_(keys.size(), Category::Unknown),
      of_versions_(rows_.count(), Category::Unknown),
      named_(keys.size()) {}

void Labels::set_tensor(KeyId key, Category category) {
  of_tensors_[keys_->tensors[key.value]] = category;
  named_[key.value] = true;
}

void Labels::set_version(KeyId key, std::int32_t version, Category category) {
  Category& known = of_versions_[rows_.row(key, version)];
  if (known == Category::Unknown) known = category;
}

Category Labels::operator()(KeyId key, std::int32_t version) const {
  const Category tensor = of_tensors_[keys_->tensors[key.value]];
  if (tensor != Category::Unknown) return tensor;
  const Category storage = of_keys_[key.value];
  return storage != Category::Unknown ? storage : of_versions_[rows_.row(key, version)];
}

}  // namespace tidemark::dataflow
