// What happened to memory, in order: births, new versions and deaths, and bytes by category.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tidemark/engine/dataflow/categories.h"
#include "tidemark/engine/dataflow/sizes.h"

namespace tidemark::dataflow {

enum class Action : std::uint8_t { Preexisting = 1, Create, IncrementVersion, Destroy };

inline constexpr std::int64_t kBeforeTheRun = -1;  // a time

struct Entry {
  std::int64_t time_ns = kBeforeTheRun;
  std::int64_t bytes = 0;
  KeyId key;                  // none: memory that no tensor was seen with
  Position at = kNoPosition;  // the event, or the node's; none: before the run
  std::int32_t version = 0;
  std::uint32_t allocation = kNoRow;  // without a key: row of Recording::allocations
  DeviceId device;
  Action action = Action::Preexisting;
  bool operator==(const Entry&) const = default;
};

// By time, and at one time by action.
std::vector<Entry> find_timeline(const Known& known, const Labels& labels,
                                 const std::vector<std::int64_t>& sizes, Diagnostics& diagnostics);

// PyTorch's order of categories in what it exports, with what has none at the end.
inline constexpr std::array<Category, 8> kExportOrder = {
    Category::Parameter,  Category::OptimizerState, Category::Input,          Category::Temporary,
    Category::Activation, Category::Gradient,       Category::AutogradDetail, Category::Unknown};
std::size_t export_number(Category category);

// Bytes of one device by category whenever they change, in the order of export.
struct CoalescedTimeline {
  using Row = std::array<std::int64_t, kExportOrder.size()>;
  std::vector<std::int64_t> times_us;  // before the run: the first time
  std::vector<Row> rows;
};
CoalescedTimeline coalesce(const std::vector<Entry>& entries, const Labels& labels,
                           DeviceId device);

// Microseconds as Python's int(ns / 1000) gives them: the quotient is rounded to a double first.
std::int64_t microseconds_as_python(std::int64_t time_ns);

}  // namespace tidemark::dataflow
