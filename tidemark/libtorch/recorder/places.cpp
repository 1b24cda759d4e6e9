// Whether a thread is inside an operator: by the state of dispatch, and where that is not enough,
// by PyTorch's records.
#include "tidemark/libtorch/recorder/dispatch_state.h"
#include "tidemark/libtorch/recorder/marked_kernels.h"
#include "tidemark/libtorch/recorder/operators.h"
#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {

using namespace attribution;

void Recorder::follow_operators() {
  if (operator_starts_ == 0) needs_records_ = false;
  const bool records = output_starts_ > 0 || wants_origins() || needs_records_;
  if (records) watch_operators(wants_outputs() || wants_origins());
  else unwatch_operators();
  const bool reads_state = operator_starts_ > 0 && !records;
  if (reads_state) mark_operators();
  if (reads_state && !reads_state_) state_fails_ = false;  // of trackers before this one
  reads_state_ = reads_state;
}

std::uint8_t Recorder::place(ThreadState& thread, Caller caller) noexcept {
  if (!reads_state_.load(std::memory_order_relaxed)) {
    catch_up(thread, false, caller);
    return static_cast<std::uint8_t>((thread.operator_depth > 0 ? kInsideOperator : 0) |
                                     (thread.resizes ? kResizes : 0));
  }
  // The state does not say which operator it is: each may resize.
  constexpr std::uint8_t kInside = kInsideOperator | kResizes;
  const Place place = thread.marked_kernels > 0 ? Place::Operator : place_by_state();
  thread.inside_by_state = place == Place::Operator;
  if (place == Place::Outside) return 0;
  return place == Place::Number ? kInside | kOfNumber : kInside;
}

void Recorder::catch_up(ThreadState& thread, bool begins_operator, Caller caller) noexcept {
  if (!thread.inside_by_state && !thread.is_unrecorded) return;
  if (thread.inside_by_state) {
    thread.inside_by_state = false;
    thread.is_unrecorded = thread.in_python = true;
    thread.operator_depth = 1;
  }
  // In inference mode the state does not tell. Then the next operator ends the one before, even if
  // it belongs to it.
  const bool has_left = c10::InferenceMode::is_enabled()
                            ? begins_operator
                            : thread.marked_kernels == 0 && place_by_state() != Place::Operator;
  if (!has_left) return;
  thread.is_unrecorded = thread.in_python = false;
  thread.operator_depth = 0;
  note_operator_end(0, caller);
}

// Once is enough: programs that leave the common way tend to do it again. Records cannot be asked
// for under an allocator's lock: that is left to the next note which is written under none, a
// module's border at the latest. Nor while somebody starts or stops, who may have ended it all.
void Recorder::check_state(Caller caller) noexcept {
  if (!reads_state_.load(std::memory_order_relaxed)) return;
  if (!state_tells_borders()) state_fails_.store(true, std::memory_order_relaxed);
  if (caller == kHoldsLock || !state_fails_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(starts_lock_, std::try_to_lock);
  if (lock && reads_state_) follow_records();
}

void Recorder::follow_records() noexcept {
  try {
    watch_operators(false);
  } catch (...) {
    return;  // there is no memory for it: the next note tries again
  }
  needs_records_ = true;
  reads_state_ = false;
}

}  // namespace tidemark::recorder
