// One row of a tape.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tidemark/engine/base/category.h"
#include "tidemark/engine/base/ids.h"

namespace tidemark {

enum class Kind : std::uint8_t {
  Alloc,         // a storage is born
  Free,          // a storage dies
  Resize,        // a storage changes size; bytes is the new size
  Relabel,       // a storage changes category
  ScopeBegin,    // a module call or user region begins
  ScopeEnd,      // and ends; ends need not nest
  CallBegin,     // an operator begins
  CallEnd,       // and ends
  Phase,         // the phase changes
  Step,          // the next training step begins
  Mark,          // a remark; the subject is its text
  Input,         // a storage goes into a scope
  Output,        // a storage comes out of a scope
  SegmentMap,    // the allocator takes memory from the device
  SegmentUnmap,  // and gives it back
  Block,         // a storage's memory is a block of this size, by its device's allocator
  PoolUse,       // from here births of the device come from this pool of its allocator
  PoolRelease,   // a private pool has lost its last user
  CacheEmpty,    // the allocator gives back what is free: all of it (pool 0), or that of a pool
};
inline constexpr std::size_t kKindCount = 19;

std::string_view name_of(Kind kind);
std::optional<Kind> kind_named(std::string_view name);

// Questions about kinds. Each is asked by name, so that a new kind is thought of here and not at
// every place that asks.

// The event changes what a storage is: its life, its size, its block or its category.
constexpr bool changes_storage(Kind kind) {
  return kind == Kind::Alloc || kind == Kind::Free || kind == Kind::Resize ||
         kind == Kind::Relabel || kind == Kind::Block;
}
// The subject is a storage.
constexpr bool is_about_storage(Kind kind) {
  return changes_storage(kind) || kind == Kind::Input || kind == Kind::Output;
}
// The subject is a segment of the allocator.
constexpr bool is_about_segment(Kind kind) {
  return kind == Kind::SegmentMap || kind == Kind::SegmentUnmap;
}
// The subject is a pool of the allocator; 0 is the one that all share.
constexpr bool is_about_pool(Kind kind) {
  return kind == Kind::PoolUse || kind == Kind::PoolRelease || kind == Kind::CacheEmpty;
}
// The event makes no sense without a device. Others have one where their storage is known.
constexpr bool needs_device(Kind kind) {
  return kind == Kind::Alloc || is_about_segment(kind) || is_about_pool(kind);
}
// The scope of the event is the one that begins or ends.
constexpr bool is_scope_edge(Kind kind) {
  return kind == Kind::ScopeBegin || kind == Kind::ScopeEnd;
}
// The call of the event is the one that begins or ends.
constexpr bool is_call_edge(Kind kind) { return kind == Kind::CallBegin || kind == Kind::CallEnd; }

// A bit for each kind of which it is true: asked without a branch or a table, so that a loop over a
// tape puts the question to several rows at once.
template <class Question>
constexpr std::uint32_t kinds_of_which(Question is_true) {
  std::uint32_t bits = 0;
  for (std::uint32_t kind = 0; kind < kKindCount; ++kind)
    bits |= static_cast<std::uint32_t>(is_true(static_cast<Kind>(kind))) << kind;
  return bits;
}

struct Event {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;  // requested bytes; those of a block
  std::uint32_t subject =
      UINT32_MAX;  // a StorageId, a segment's or pool's number, a mark's StringId
  ScopeId scope;   // the innermost scope, or the one that begins or ends
  StackId stack;   // the source line
  CallId call;     // the operator
  StreamId stream;
  Kind kind = Kind::Mark;
  Category category = Category::Unknown;
  Phase phase = Phase::Other;
  DeviceId device;

  StorageId storage() const { return StorageId(subject); }
  bool operator==(const Event&) const = default;
};

}  // namespace tidemark
