// Loops over whole columns without a branch, so that the compiler puts several rows into one step.
#include "tidemark/engine/tape/event_checks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tidemark/engine/tape/event.h"
#include "tidemark/engine/tape/file_format.h"

namespace tidemark {
namespace {

// As many rows as stay in the processor's nearest cache from one loop to the next.
constexpr std::size_t kRowsAtOnce = 4096;
using Flags = std::array<std::uint8_t, kRowsAtOnce>;

// 1 for a kind of which it is true. Written as the least difference from all of these, which every
// processor finds for sixteen rows at once; few can shift each row's bits by another number.
template <bool (*kIsTrue)(Kind)>
std::uint8_t flag_of(std::uint8_t kind) {
  std::uint8_t least = UINT8_MAX;
  [&]<std::size_t... kKinds>(std::index_sequence<kKinds...>) {
    ((least = kIsTrue(static_cast<Kind>(kKinds))
                  ? std::min<std::uint8_t>(least, kind ^ static_cast<std::uint8_t>(kKinds))
                  : least),
     ...);
  }
  (std::make_index_sequence<kKindCount>());
  return least == 0;
}

template <bool (*kIsTrue)(Kind)>
void set_flags(std::span<const std::uint8_t> kinds, Flags& flags) {
  for (std::size_t i = 0; i < kinds.size(); ++i) flags[i] = flag_of<kIsTrue>(kinds[i]);
}

constexpr bool is_mark_kind(Kind kind) { return kind == Kind::Mark; }

// Whether one of the flagged rows has a subject of `limit` and its own place, or more.
bool any_beyond(const Flags& flags, std::span<const std::uint32_t> subjects, std::uint32_t limit,
                std::uint32_t step) {
  std::uint32_t bad = 0;
  for (std::uint32_t i = 0; i < subjects.size(); ++i)
    bad |= flags[i] & static_cast<std::uint32_t>(subjects[i] >= limit + step * i);
  return bad != 0;
}

bool any_without_device(const Flags& flags, std::span<const std::uint8_t> devices) {
  std::uint8_t bad = 0;
  for (std::size_t i = 0; i < devices.size(); ++i)
    bad |= flags[i] & static_cast<std::uint8_t>(devices[i] == DeviceId::kNone);
  return bad != 0;
}

}  // namespace

EventChecks::EventChecks(const Tables& tables) : strings_(tables.strings.size()) {
  const auto ids = [](const auto& rows) { return Limit{rows.size(), true}; };
  // In the order of the columns. What a subject may be hangs on the kind of its event.
  limits_ = {{{},
              {},
              {},
              ids(tables.scopes()),
              ids(tables.stacks()),
              ids(tables.calls()),
              ids(tables.streams()),
              {kKindCount},
              {kCategoryCount},
              {kPhaseCount},
              ids(tables.devices())}};
}

template <class T>
bool EventChecks::next_in_range(std::span<const T> values) {
  const Limit& limit = limits_[next_++];
  if (limit.rows == UINT64_MAX) return true;
  const T more = limit.may_be_none;  // none wraps to 0
  T highest = 0;
  for (T value : values) highest = std::max<T>(highest, static_cast<T>(value + more));
  return static_cast<std::uint64_t>(highest) < limit.rows + more;
}

template bool EventChecks::next_in_range(std::span<const std::int64_t>);
template bool EventChecks::next_in_range(std::span<const std::uint32_t>);
template bool EventChecks::next_in_range(std::span<const std::uint16_t>);
template bool EventChecks::next_in_range(std::span<const std::uint8_t>);

bool EventChecks::pairs_in_range(const EventRows& rows, std::size_t first) const {
  const auto texts = static_cast<std::uint32_t>(std::min<std::size_t>(strings_, UINT32_MAX));
  Flags flags;
  bool is_good = true;
  for (std::size_t done = 0; done < rows.size(); done += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, rows.size() - done);
    const auto kinds = rows.kind.subspan(done, count);
    const auto subjects = rows.subject.subspan(done, count);
    // Storages are numbered about when they are first named: see TapeBuilder::new_storage.
    const auto storages = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(first + done + kStoragesAhead, UINT32_MAX - kRowsAtOnce));
    set_flags<is_about_storage>(kinds, flags);
    is_good &= !any_beyond(flags, subjects, storages, 1);
    set_flags<is_mark_kind>(kinds, flags);
    is_good &= !any_beyond(flags, subjects, texts, 0);
    set_flags<needs_device>(kinds, flags);
    is_good &= !any_without_device(flags, rows.device.subspan(done, count));
  }
  return is_good;
}

}  // namespace tidemark
