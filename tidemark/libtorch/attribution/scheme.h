// What a tracker tells apart, as data: the categories of its rows, and the moments of a module's
// life that it keeps.
//
// A new kind of tracker is a new table here; see tests/attribution/scheme_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

#include "tidemark/engine/base/category.h"

namespace tidemark::attribution {

// Moments of a module. The book meets the first eight at the borders of its calls; the others, of
// work that is done around these, are told.
enum class Moment : std::uint8_t {
  PreForward,
  PostForward,
  PeakForward,
  PreBackward,
  PreRecompute,
  PostRecompute,
  PostBackward,
  PeakBackward,
  BeforePreForward,
  AfterPreForward,
  BeforePostForward,
  AfterPostForward,
  BeforePreBackward,
  AfterPreBackward,
  BeforePostBackward,
  AfterPostBackward,
};
inline constexpr std::size_t kMoments = 16;
constexpr bool is_told(Moment moment) { return moment >= Moment::BeforePreForward; }
// Rows are copied at every border of a module: they have room for so many categories, and no more.
inline constexpr std::size_t kMostInRow = 13;

struct CategoryName {
  Category category;
  std::string_view name;
};
struct MomentName {
  Moment moment;
  std::string_view name;
};

class Scheme {
 public:
  // Both tables outlive it, in the order in which they are reported. What is none of the categories
  // counts as the last one; moments that are not there are not kept.
  constexpr Scheme(std::span<const CategoryName> categories, std::span<const MomentName> states)
      : categories_(categories), states_(states) {
    if (categories.empty() || categories.size() > kMostInRow)
      throw std::length_error("a scheme has too many categories, or none");
    slots_.fill(static_cast<std::uint8_t>(categories.size() - 1));
    for (std::size_t slot = 0; slot < categories.size(); ++slot)
      slots_[static_cast<std::size_t>(categories[slot].category)] = static_cast<std::uint8_t>(slot);
    for (const MomentName& state : states) {
      keeps_[static_cast<std::size_t>(state.moment)] = true;
      keeps_told_ |= is_told(state.moment);
    }
  }

  constexpr std::span<const CategoryName> categories() const { return categories_; }
  constexpr std::span<const MomentName> states() const { return states_; }
  constexpr std::size_t slot_of(Category category) const {
    return slots_[static_cast<std::size_t>(category)];
  }
  constexpr bool keeps(Moment moment) const { return keeps_[static_cast<std::size_t>(moment)]; }
  // Moments are told: peaks begin with them, not with the borders of calls.
  constexpr bool keeps_told() const { return keeps_told_; }

 private:
  std::span<const CategoryName> categories_;
  std::span<const MomentName> states_;
  std::array<std::uint8_t, kCategoryCount> slots_{};
  std::array<bool, kMoments> keeps_{};
  bool keeps_told_ = false;
};

// Those of PyTorch's MemTracker, under its names.
inline constexpr CategoryName kMemTrackerCategories[] = {
    {Category::Parameter, "Parameter"}, {Category::Buffer, "Buffer"},
    {Category::Gradient, "Gradient"},   {Category::Activation, "Activation"},
    {Category::Temporary, "Temp"},      {Category::OptimizerState, "Optstate"},
    {Category::Other, "Other"},
};
inline constexpr MomentName kMemTrackerStates[] = {
    {Moment::PreForward, "Pre-Forward"},      {Moment::PostForward, "Post-Forward"},
    {Moment::PeakForward, "Peak-Forward"},    {Moment::PreBackward, "Pre-Backward"},
    {Moment::PreRecompute, "Pre-Forward-AC"}, {Moment::PostRecompute, "Post-Forward-AC"},
    {Moment::PostBackward, "Post-Backward"},  {Moment::PeakBackward, "Peak-Backward"},
};
inline constexpr Scheme kMemTracker(kMemTrackerCategories, kMemTrackerStates);

// The same categories under our names, and those of sharded models.
inline constexpr CategoryName kTrackingCategories[] = {
    {Category::Parameter, "Parameter"},
    {Category::Buffer, "Buffer"},
    {Category::Gradient, "Gradient"},
    {Category::Activation, "Activation"},
    {Category::Temporary, "Temporary"},
    {Category::OptimizerState, "OptimizerState"},
    {Category::ShardedParameter, "ShardedParameter"},
    {Category::UnshardedParameter, "UnshardedParameter"},
    {Category::ShardedGradient, "ShardedGradient"},
    {Category::UnshardedGradient, "UnshardedGradient"},
    {Category::AllGather, "AllGather"},
    {Category::ReduceScatter, "ReduceScatter"},
    {Category::Other, "Other"},
};
inline constexpr Scheme kTracking(kTrackingCategories, {});

// Those of PyTorch's FSDPMemTracker, under its names.
inline constexpr CategoryName kFsdpMemTrackerCategories[] = {
    {Category::ShardedParameter, "Sharded Param"},
    {Category::UnshardedParameter, "Unsharded Param"},
    {Category::Buffer, "Buffer"},
    {Category::ShardedGradient, "Sharded Grad"},
    {Category::UnshardedGradient, "Unsharded Grad"},
    {Category::Activation, "Activation"},
    {Category::Temporary, "Temp"},
    {Category::AllGather, "All Gather"},
    {Category::ReduceScatter, "Reduce Scatter"},
    {Category::OptimizerState, "OptState"},
    {Category::Input, "Inputs"},
};
inline constexpr MomentName kFsdpMemTrackerStates[] = {
    {Moment::BeforePreForward, "Before Pre-Forward"},
    {Moment::AfterPreForward, "After Pre-Forward"},
    {Moment::BeforePostForward, "Before Post-Forward"},
    {Moment::AfterPostForward, "After Post-Forward"},
    {Moment::BeforePreBackward, "Before Pre-Backward"},
    {Moment::AfterPreBackward, "After Pre-Backward"},
    {Moment::BeforePostBackward, "Before Post-Backward"},
    {Moment::AfterPostBackward, "After Post-Backward"},
    {Moment::PreRecompute, "Pre-Forward AC"},
    {Moment::PostRecompute, "Post-Forward AC"},
    {Moment::PeakForward, "Peak Forward"},
    {Moment::PeakBackward, "Peak Backward"},
};
inline constexpr Scheme kFsdpMemTracker(kFsdpMemTrackerCategories, kFsdpMemTrackerStates);

}  // namespace tidemark::attribution
