// Bytes of one device by category, as trackers report them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tidemark/engine/base/category.h"

namespace tidemark::attribution {

// The categories a tracker tells apart, in the order in which it reports them.
inline constexpr std::array<Category, 7> kRowCategories = {
    Category::Parameter, Category::Buffer,         Category::Gradient, Category::Activation,
    Category::Temporary, Category::OptimizerState, Category::Other};

// What is not of the list above counts as Other; so do the inputs of the program.
inline constexpr auto kSlots = [] {
  std::array<std::uint8_t, kCategoryCount> slots{};
  slots.fill(kRowCategories.size() - 1);
  for (std::size_t slot = 0; slot < kRowCategories.size(); ++slot)
    slots[static_cast<std::size_t>(kRowCategories[slot])] = static_cast<std::uint8_t>(slot);
  return slots;
}();
constexpr std::size_t slot_of(Category category) {
  return kSlots[static_cast<std::size_t>(category)];
}

struct Row {
  std::array<std::int64_t, kRowCategories.size()> bytes{};
  std::int64_t total = 0;

  void add(Category category, std::int64_t change) {
    bytes[slot_of(category)] += change;
    total += change;
  }
  void move(Category from, Category to, std::int64_t amount) {
    bytes[slot_of(from)] -= amount;
    bytes[slot_of(to)] += amount;
  }
};

// One row per device number; a device with nothing on it has an empty row. Programs use one or two
// devices, and rows are copied at every border of a module, so two rows need no allocation.
class Rows {
 public:
  std::size_t size() const { return size_; }
  Row& operator[](std::size_t device) {
    return device < kInside ? inside_[device] : more_[device - kInside];
  }
  const Row& operator[](std::size_t device) const {
    return device < kInside ? inside_[device] : more_[device - kInside];
  }
  void resize(std::size_t size) {
    if (size > kInside) more_.resize(size - kInside);
    size_ = size;
  }

 private:
  static constexpr std::size_t kInside = 2;
  std::array<Row, kInside> inside_{};
  std::vector<Row> more_;
  std::size_t size_ = 0;
};

}  // namespace tidemark::attribution
