// Typed indices: a StorageId can never be passed where a ScopeId is meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace tidemark {

// An index into one table. The highest value means "none".
template <class Tag, class Rep = std::uint32_t>
struct Id {
  using rep = Rep;
  static constexpr Rep kNone = std::numeric_limits<Rep>::max();

  Rep value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value(v) {}
  constexpr explicit operator bool() const { return value != kNone; }
  constexpr auto operator<=>(const Id&) const = default;
};

using StringId = Id<struct StringTag>;
using StorageId = Id<struct StorageTag>;
using ScopeId = Id<struct ScopeTag>;
using StackId = Id<struct StackTag>;
using CallId = Id<struct CallTag>;
using StreamId = Id<struct StreamTag, std::uint16_t>;
using DeviceId = Id<struct DeviceTag, std::uint8_t>;

// The device in this row of the tables.
constexpr DeviceId device_numbered(std::size_t row) {
  return DeviceId(static_cast<DeviceId::rep>(row));
}

}  // namespace tidemark

template <class Tag, class Rep>
struct std::hash<tidemark::Id<Tag, Rep>> {
  std::size_t operator()(tidemark::Id<Tag, Rep> id) const noexcept { return id.value; }
};
