// Peaks: of the whole run, and of the stretches of it that somebody asked for.
#include "tidemark/libtorch/attribution/attribution.h"

namespace tidemark::attribution {

// Only growth can be a new peak, so a sample without any costs nothing.
void Attribution::sample(bool in_backward) {
  const std::uint64_t risen = risen_[in_backward];
  if (risen == 0) return;
  ++moment_;
  for (std::size_t device = 0; device < now_.size(); ++device) {
    if (!(risen >> (device & 63) & 1)) continue;
    if (now_[device].total > peak_[device].total) {
      peak_[device] = now_[device];
      peak_moment_[device] = moment_;
    }
    if (open_windows_ > 0) marks_[in_backward][device].sample(moment_, now_[device]);
  }
  risen_[in_backward] = 0;
}

Window Attribution::open_window(bool in_backward) {
  Window window{now_, 0, in_backward, false};
  reopen(window);
  return window;
}

void Attribution::reopen(Window& window) {
  if (window.is_open) return;
  window.is_open = true;
  window.since = moment_ + 1;
  ++open_windows_;
  for (HighMarks& marks : marks_[window.in_backward]) marks.begin(window.since);
}

void Attribution::fold(Window& window) {
  if (!window.is_open) return;
  const auto& marks = marks_[window.in_backward];
  if (window.highest.size() < marks.size()) window.highest.resize(marks.size());
  for (std::size_t device = 0; device < marks.size(); ++device) {
    const Row* highest = marks[device].highest_since(window.since);
    if (highest && highest->total > window.highest[device].total) window.highest[device] = *highest;
  }
}

void Attribution::close(Window& window) {
  fold(window);
  if (!window.is_open) return;
  window.is_open = false;
  if (--open_windows_ > 0) return;
  for (auto& stream : marks_)
    for (HighMarks& marks : stream) marks.clear();
}

}  // namespace tidemark::attribution
