// Categories of tensors: of all versions of a tensor, of one storage, or of one version of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidemark/engine/base/category.h"
#include "tidemark/engine/dataflow/flow.h"

namespace tidemark::dataflow {

// Every version of every storage has a row in columns of versions.
class VersionRows {
 public:
  VersionRows() = default;
  explicit VersionRows(const std::vector<std::int32_t>& versions);

  std::uint32_t row(KeyId key, std::int32_t version) const {
    return begins_[key.value] + static_cast<std::uint32_t>(version);
  }
  std::uint32_t count() const { return begins_.back(); }
  std::int32_t versions(KeyId key) const {
    return static_cast<std::int32_t>(begins_[key.value + 1] - begins_[key.value]);
  }

 private:
  std::vector<std::uint32_t> begins_ = {0};  // by key, and one more
};

// Unknown stands for no category.
class Labels {
 public:
  Labels() = default;
  // The keys must outlive this.
  Labels(const Keys& keys, VersionRows rows);

  // Over everything else that is known of the tensor.
  void set_tensor(KeyId key, Category category);
  void set_key(KeyId key, Category category) { of_keys_[key.value] = category; }
  // Unless the version has one.
  void set_version(KeyId key, std::int32_t version, Category category);

  // The tensor's, else the storage's, else the version's.
  Category operator()(KeyId key, std::int32_t version) const;

  Category of_tensor(std::uint32_t tensor) const { return of_tensors_[tensor]; }
  Category of_key(KeyId key) const { return of_keys_[key.value]; }
  Category of_version(std::uint32_t row) const { return of_versions_[row]; }
  // The key was named when its tensor got a category.
  bool named(KeyId key) const { return named_[key.value]; }
  const VersionRows& rows() const { return rows_; }

 private:
  const Keys* keys_ = nullptr;
  VersionRows rows_;
  std::vector<Category> of_tensors_, of_keys_, of_versions_;
  std::vector<bool> named_;
};

}  // namespace tidemark::dataflow
