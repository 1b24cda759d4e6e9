// Every question is a walk over all pieces.
#include "tests/property/slow_allocator.h"

#include <algorithm>

#include "tests/support/numbers.h"

namespace tidemark::test {

// Steps of a 512th of a MiB, or so many between one power of two and the next.
std::int64_t SlowAllocator::round(std::int64_t bytes) const {
  std::size_t interval = 0;
  for (std::int64_t power = 2 * kMiB; power <= bytes && interval < 15; power *= 2) ++interval;
  const std::int64_t divisions = settings_.power2_divisions[interval];
  if (divisions > 1 && bytes > 512 * divisions) {
    std::int64_t power = 1;
    while (power * 2 <= bytes) power *= 2;
    for (std::int64_t step = 0; step <= divisions; ++step)
      if (power + power / divisions * step >= bytes) return power + power / divisions * step;
  }
  return (bytes + 511) / 512 * 512;
}

std::int64_t SlowAllocator::segment_bytes(std::int64_t size) const {
  if (size <= kMiB) return 2 * kMiB;
  if (size < 10 * kMiB) return settings_.large_segment_bytes;
  return (size + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
}

// The oldest segment's lowest piece among the smallest that fit.
SlowAllocator::Found SlowAllocator::best_fit(std::int64_t size, std::uint32_t stream) {
  Found best;
  for (Segment& segment : segments_) {
    if (segment.stream != stream || segment.is_small != (size <= kMiB)) continue;
    for (auto piece = segment.pieces.begin(); piece != segment.pieces.end(); ++piece)
      if (piece->state == State::Free && piece->size >= size &&
          (!best.segment || piece->size < best.piece->size))
        best = {&segment, piece};
  }
  if (!best.segment) return {};
  const std::int64_t most = settings_.max_split_bytes;
  if (size < most && best.piece->size >= most) return {};
  if (size >= most && best.piece->size >= size + settings_.non_split_slack_bytes) return {};
  return best;
}

SlowAllocator::Found SlowAllocator::new_segment(std::int64_t size, std::uint32_t stream) {
  const std::int64_t bytes = segment_bytes(size);
  if (reserved() + bytes > device_bytes_) return {};
  segments_.push_back({++last_number_, stream, size <= kMiB, {{++last_place_, bytes}}});
  return {&segments_.back(), segments_.back().pieces.begin()};
}

// The smallest whole segment from max_split_size on that is large enough, or the largest ones.
bool SlowAllocator::release_oversize(std::int64_t size, std::uint32_t stream) {
  const std::int64_t most = settings_.max_split_bytes;
  if (most == AllocatorSettings::kUnlimited) return false;
  const std::int64_t wanted = std::max(size, most);
  std::vector<std::list<Segment>::iterator> whole;
  for (auto one = segments_.begin(); one != segments_.end(); ++one)
    if (one->stream == stream && one->is_small == (size <= kMiB) && one->pieces.size() == 1 &&
        one->pieces.front().state == State::Free && one->pieces.front().size >= most)
      whole.push_back(one);
  const auto bytes = [](const auto& one) { return one->pieces.front().size; };
  std::stable_sort(whole.begin(), whole.end(),
                   [&](const auto& a, const auto& b) { return bytes(a) < bytes(b); });
  for (const auto& one : whole)
    if (bytes(one) >= wanted) {
      segments_.erase(one);
      return true;
    }
  std::int64_t released = 0;
  while (released < wanted && !whole.empty()) {
    released += bytes(whole.back());
    segments_.erase(whole.back());
    whole.pop_back();
  }
  return released >= wanted;
}

std::optional<SlowAllocator::Place> SlowAllocator::malloc(std::int64_t bytes,
                                                          std::uint32_t stream) {
  pass_events();
  const std::int64_t size = round(bytes);
  Found found = best_fit(size, stream);
  if (!found.segment) found = new_segment(size, stream);
  if (!found.segment && release_oversize(size, stream)) found = new_segment(size, stream);
  if (!found.segment) {
    empty_cache();
    ++retries_;
    found = new_segment(size, stream);
  }
  if (!found.segment) return std::nullopt;
  const std::int64_t rest = found.piece->size - size;
  const bool splits = size <= kMiB ? rest >= 512 : size < settings_.max_split_bytes && rest > kMiB;
  if (splits) {
    found.segment->pieces.insert(std::next(found.piece), {++last_place_, rest});
    found.piece->size = size;
  }
  found.piece->state = State::Allocated;
  found.piece->place = ++last_place_;
  return found.piece->place;
}

SlowAllocator::Found SlowAllocator::find(Place place) {
  for (Segment& segment : segments_)
    for (auto piece = segment.pieces.begin(); piece != segment.pieces.end(); ++piece)
      if (piece->place == place) return {&segment, piece};
  return {};
}

void SlowAllocator::join(Segment& segment) {
  for (auto piece = segment.pieces.begin(); piece != segment.pieces.end();) {
    const auto next = std::next(piece);
    if (next == segment.pieces.end()) return;
    if (piece->state == State::Free && next->state == State::Free) {
      piece->size += next->size;
      segment.pieces.erase(next);
    } else {
      piece = next;
    }
  }
}

void SlowAllocator::free(Place place) {
  const Found found = find(place);
  found.piece->state = found.piece->is_used_elsewhere ? State::Waiting : State::Free;
  found.piece->is_used_elsewhere = false;
  join(*found.segment);
}

void SlowAllocator::record_stream(Place place, std::uint32_t stream) {
  const Found found = find(place);
  if (found.segment->stream != stream) found.piece->is_used_elsewhere = true;
}

void SlowAllocator::pass_events() {
  for (Segment& segment : segments_) {
    for (Piece& piece : segment.pieces)
      if (piece.state == State::Waiting) piece.state = State::Free;
    join(segment);
  }
}

void SlowAllocator::empty_cache() {
  pass_events();
  segments_.remove_if([](const Segment& segment) {
    return segment.pieces.size() == 1 && segment.pieces.front().state == State::Free;
  });
}

template <class Count>
std::int64_t SlowAllocator::sum(Count&& counts) const {
  std::int64_t bytes = 0;
  for (const Segment& segment : segments_)
    for (const Piece& piece : segment.pieces)
      if (counts(piece)) bytes += piece.size;
  return bytes;
}

std::int64_t SlowAllocator::size_of(Place place) const {
  return sum([&](const Piece& piece) { return piece.place == place; });
}
std::int64_t SlowAllocator::allocated() const {
  return sum([](const Piece& piece) { return piece.state == State::Allocated; });
}
std::int64_t SlowAllocator::active() const {
  return sum([](const Piece& piece) { return piece.state != State::Free; });
}
std::int64_t SlowAllocator::reserved() const {
  return sum([](const Piece&) { return true; });
}

}  // namespace tidemark::test
