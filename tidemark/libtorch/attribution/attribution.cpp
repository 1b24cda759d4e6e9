// Notes to rows: the state of every storage, and samples of the total after each operator.
#include "tidemark/libtorch/attribution/attribution.h"

#include <algorithm>

#include "tidemark/engine/base/rounding.h"

namespace tidemark::attribution {

namespace {

// The flags of a label are its category; but labels are given outside operators.
bool is_outside_operators(const Note& note) {
  if (note.kind == NoteKind::OperatorEnded) return false;
  return note.kind == NoteKind::Labelled || !note.has(kInsideOperator);
}

}  // namespace

void Attribution::take(const Note& note) {
  if (note.kind == NoteKind::Block) return take_block(note);
  if (!rules_.count_at_birth && is_outside_operators(note)) leave_operators(note.thread);
  switch (note.kind) {
    case NoteKind::Born: return born(note);
    case NoteKind::Died: return died(note);
    case NoteKind::Output: return output(note);
    case NoteKind::Made: return made(note);
    case NoteKind::OperatorEnded: return operator_ended(note);
    case NoteKind::Resizing: return resizing(note);
    case NoteKind::Resized: return resized(note);
    case NoteKind::Forgotten: emptied_.erase(note.key); return;
    case NoteKind::Labelled: return label(note.key, note.bytes, note.device, note.category());
    default: return;  // not of storages
  }
}

std::int64_t Attribution::accounted(std::int64_t bytes, std::uint8_t device) const {
  const std::int64_t unit =
      granularities_ ? (*granularities_)[device].load(std::memory_order_relaxed) : 0;
  return unit > 1 ? rounded_up(bytes, unit) : bytes;
}

void Attribution::add_device(std::uint8_t device) {
  now_.resize(device + 1);
  peak_.resize(device + 1);
  peak_moment_.resize(device + 1);
  for (auto& marks : marks_) marks.resize(device + 1);
}

StorageNumber Attribution::add_storage(StorageKey key, std::int64_t bytes, std::uint8_t device) {
  // An address that is given out again without a death we saw: its old storage is gone.
  if (const auto old = index_.find(key); old != KeyIndex::kNone) forget(old);
  StorageNumber number;
  if (free_.empty()) {
    number = static_cast<StorageNumber>(storages_.size());
    storages_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  storages_[number] = {.key = key,
                       .bytes = accounted(bytes, device),
                       .moment = moment_ + 1,
                       .state = State::Outside,
                       .device = device,
                       .optimizer_step = optimizer_steps_};
  ++born_in_optimizer_;
  index_.put(key, number);
  return number;
}

void Attribution::forget(StorageNumber number) {
  Storage& storage = storages_[number];
  if (storage.state == State::Counted)
    row(storage.device).add(scheme_.slot_of(storage.category), -storage.bytes);
  born_in_optimizer_ -= storage.optimizer_step == optimizer_steps_;
  index_.erase(storage.key);
  storage.state = State::Free;
  free_.push_back(number);
}

void Attribution::count(StorageNumber number, Category category) {
  Storage& storage = storages_[number];
  storage.state = State::Counted;
  storage.category = category;
  storage.moment = moment_ + 1;
  row(storage.device).add(scheme_.slot_of(category), storage.bytes);
  rise(storage.device);
}

void Attribution::rise(std::uint8_t device) {
  const std::uint64_t bit = std::uint64_t{1} << (device & 63);
  risen_[0] |= bit;
  risen_[1] |= bit;
}

void Attribution::born(const Note& note) {
  if (!accepts_births_) return;
  const StorageNumber number = add_storage(note.key, note.bytes, note.device);
  Thread& here = thread(note.thread);
  here.is_engine &= note.has(kInBackward);
  const bool inside = note.has(kInsideOperator) && !note.has(kOfNumber);
  Storage& storage = storages_[number];
  storage.state = inside ? State::Inside : State::Outside;
  storage.flags = note.flags;
  storage.is_of_module = here.work.modules_open > 0;
  if (note.has(kOfLibrary)) storage.category = Category::Workspace;
  if (rules_.count_at_birth) return count_now(number, note, category_of(storage, here, note.flags));
  if (inside && here.inside.empty()) settle_other_side(here);
  if (inside) here.inside.push_back(number);
  if (!inside && rules_.count_outside_operators) here.outside.push_back(number);
  if (listener_) listener_->allocated(number, note, phase_now(here, note.flags));
}

void Attribution::count_now(StorageNumber number, const Note& note, Category category) {
  count(number, category);
  if (listener_)
    listener_->born(number, note, category, phase_now(thread(note.thread), note.flags));
  sample(note.has(kInBackward));
}

void Attribution::moved(StorageKey old, const Note& note) {
  if (!accepts_births_) return;
  // A storage that had no memory for a while is what it is needed for now.
  const Category fresh = work(note.thread).purpose.value_or(Category::Unknown);
  const Category category = category_of(old).value_or(fresh);
  count_now(add_storage(note.key, note.bytes, note.device), note, category);
}

void Attribution::take_input(StorageKey key) {
  const StorageNumber number = index_.find(key);
  if (number == KeyIndex::kNone || storages_[number].is_of_module) return;
  const Storage& storage = storages_[number];
  const bool is_made_for_it =
      storage.category == Category::Unknown || storage.category == Category::Activation;
  if (storage.state == State::Counted && is_made_for_it) relabel(key, Category::Input);
}

// Takes a storage from the list that it waits in. What dies young is near the end of it.
void Attribution::unlist(StorageNumber number, std::uint32_t likely_thread) {
  const auto erase_from = [number](std::vector<StorageNumber>& list) {
    const auto found = std::find(list.rbegin(), list.rend(), number);
    if (found == list.rend()) return false;
    list.erase(std::next(found).base());
    return true;
  };
  const auto is_found_in = [&](Thread& thread) {
    return erase_from(thread.inside) || erase_from(thread.outside);
  };
  if (is_found_in(thread(likely_thread))) return;
  for (Thread& thread : threads_)
    if (is_found_in(thread)) return;
}

// Backwards of a GPU run on a thread of the engine, while the one that asked for them waits: when
// one of the two is heard of, the other has left its operators.
void Attribution::settle_other_side(const Thread& here) {
  for (Thread& other : threads_)
    if (other.is_engine != here.is_engine) settle_inside(other);
}

// A storage that dies outside operators has left its own, if on another thread.
void Attribution::settle_elsewhere(StorageNumber number) {
  for (Thread& thread : threads_)
    if (std::count(thread.inside.begin(), thread.inside.end(), number))
      return settle_inside(thread);
}

void Attribution::died(const Note& note) {
  const StorageNumber number = index_.find(note.key);
  if (number == KeyIndex::kNone) return;
  if (storages_[number].state == State::Inside && !note.has(kInsideOperator))
    settle_elsewhere(number);
  const Storage& storage = storages_[number];
  if (storage.state == State::Counted) {
    if (note.has(kResizes)) hand_on(storage.category, thread(note.thread));
  } else {
    // Born and dead before it could count.
    unlist(number, note.thread);
    if (listener_) listener_->settled(number, Category::Workspace);
  }
  if (listener_) listener_->freed(number, note.time_ns);
  forget(number);
}

// New memory of a storage that already was something stays that; it is born before the old dies.
void Attribution::hand_on(Category category, Thread& thread) {
  if (thread.inside.empty()) return;
  Storage& heir = storages_[thread.inside.back()];
  if (heir.category == Category::Unknown) heir.category = category;
}

// Told by whichever thread asks the allocator next: it says nothing of what that thread does.
void Attribution::take_block(const Note& note) {
  const StorageNumber number = index_.find(note.key);
  if (number == KeyIndex::kNone || !rules_.counts_blocks) return;
  Storage& storage = storages_[number];
  const std::int64_t change = note.bytes - storage.bytes;
  if (change == 0) return;
  storage.bytes = note.bytes;
  if (listener_) listener_->blocked(number, note.bytes);
  if (storage.state != State::Counted) return;
  row(storage.device).add(scheme_.slot_of(storage.category), change);
  rise(storage.device);
  sample((storage.flags & kInBackward) != 0);
}

void Attribution::output(const Note& note) {
  const StorageNumber number = index_.find(note.key);
  if (number == KeyIndex::kNone) return;
  if (storages_[number].state == State::Counted) return set_bytes(note.key, note.bytes);
  storages_[number].is_output = true;
  storages_[number].device = note.device;
  storages_[number].bytes = accounted(note.bytes, note.device);
}

// Its birth may have been noted or not: not every allocation goes through the allocator we hear.
void Attribution::made(const Note& note) {
  if (!accepts_births_) return;
  StorageNumber number = index_.find(note.key);
  if (number == KeyIndex::kNone) {
    born(note);
    number = index_.find(note.key);
  }
  if (storages_[number].state == State::Counted) return;
  unlist(number, note.thread);
  const Category category = category_now(thread(note.thread), note.flags);
  count(number, category);
  if (listener_) listener_->settled(number, category);
  sample(note.has(kInBackward));
}

void Attribution::operator_ended(const Note& note) {
  Thread& here = thread(note.thread);
  std::erase_if(here.inside, [&](StorageNumber number) {
    Storage& storage = storages_[number];
    if (!note.has(kOutputsOnly) || storage.is_output) return false;
    storage.state = State::OutsideOnce;
    if (listener_) listener_->settled(number, Category::Workspace);
    return true;
  });
  if (here.inside.empty()) age_outside(here, note.flags);
  settle_inside(here);
  sample(note.has(kInBackward));
}

// Numbers that Python hands to an operator are tensors too, but die with the call: what is made
// outside operators counts when a second one has ended.
void Attribution::age_outside(Thread& thread, std::uint8_t flags) {
  std::erase_if(thread.outside, [&](StorageNumber number) {
    if (storages_[number].state == State::Outside) {
      storages_[number].state = State::OutsideOnce;
      return false;
    }
    const Category category = category_of(storages_[number], thread, flags);
    count(number, category);
    if (listener_) listener_->settled(number, category);
    return true;
  });
}

void Attribution::settle_inside(Thread& thread) {
  if (thread.inside.empty()) return;
  const auto is_of_backward = [&](StorageNumber number) {
    return (storages_[number].flags & kInBackward) != 0;
  };
  bool in_backward = is_of_backward(thread.inside.front());
  for (const StorageNumber number : thread.inside) {
    if (is_of_backward(number) != in_backward) {
      sample(in_backward);
      in_backward = !in_backward;
    }
    const Category category = category_of(storages_[number], thread, storages_[number].flags);
    if (listener_) listener_->settled(number, category);
    count(number, category);
  }
  age_outside(thread, storages_[thread.inside.back()].flags);
  thread.inside.clear();
  sample(in_backward);
}

void Attribution::settle_outside(Thread& thread) {
  for (const StorageNumber number : thread.outside) {
    const Category category = category_of(storages_[number], thread, 0);
    count(number, category);
    if (listener_) listener_->settled(number, category);
  }
  thread.outside.clear();
}

void Attribution::settle(std::uint32_t id) {
  leave_operators(id);
  settle_outside(thread(id));
}

void Attribution::leave_operators(std::uint32_t id) {
  Thread& here = thread(id);
  settle_inside(here);
  settle_other_side(here);
}

void Attribution::leave_all_operators() {
  for (Thread& thread : threads_) settle_inside(thread);
}

void Attribution::label(StorageKey key, std::int64_t bytes, std::uint8_t device,
                        Category category) {
  StorageNumber number = index_.find(key);
  if (number == KeyIndex::kNone) {
    number = add_storage(key, bytes, device);
    count(number, category);
    if (listener_) listener_->adopted(number, device, bytes, category);
    return;
  }
  Storage& storage = storages_[number];
  if (storage.state != State::Counted) {
    unlist(number, 0);
    storage.device = device;
    count(number, category);
    if (listener_) listener_->settled(number, category);
    return;
  }
  if (storage.category != category) {
    if (category == Category::OptimizerState) correct_peak(storage);
    row(storage.device)
        .move(scheme_.slot_of(storage.category), scheme_.slot_of(category), storage.bytes);
    storage.category = category;
  }
  if (listener_) listener_->relabelled(number, category);
}

void Attribution::relabel(StorageKey key, Category category) {
  const StorageNumber number = index_.find(key);
  if (number == KeyIndex::kNone) return;
  label(key, storages_[number].bytes, storages_[number].device, category);
}

void Attribution::take_gradient(StorageKey key, StorageKey leaf) {
  if (category_of(key) == Category::Communication) return;
  const bool is_unsharded = leaf && category_of(leaf) == Category::UnshardedParameter;
  relabel(key, is_unsharded ? Category::UnshardedGradient : Category::Gradient);
}

// A peak inside a step saw new optimizer state as scratch: nobody could know better then.
void Attribution::correct_peak(const Storage& storage) {
  const std::int64_t peak = peak_moment_[storage.device];
  if (storage.category != Category::Temporary || peak < optimizer_since_) return;
  if (storage.moment < optimizer_since_ || storage.moment > peak) return;
  peak_[storage.device].move(scheme_.slot_of(Category::Temporary),
                             scheme_.slot_of(Category::OptimizerState), storage.bytes);
}

void Attribution::set_bytes(StorageKey key, std::int64_t bytes) {
  const StorageNumber number = index_.find(key);
  if (number == KeyIndex::kNone) return;
  Storage& storage = storages_[number];
  const std::int64_t change = accounted(bytes, storage.device) - storage.bytes;
  if (change == 0) return;
  storage.bytes += change;
  if (storage.state == State::Counted) {
    row(storage.device).add(scheme_.slot_of(storage.category), change);
    rise(storage.device);
  }
  if (listener_) listener_->resized(number, bytes);
}

void Attribution::begin_optimizer(std::uint32_t thread) {
  work(thread).in_optimizer = true;
  optimizer_since_ = moment_ + 1;
  born_in_optimizer_ = 0;
  ++optimizer_steps_;
}

void Attribution::end_optimizer(std::uint32_t thread) {
  work(thread).in_optimizer = work(thread).in_closure = false;
}

std::vector<Attribution::Live> Attribution::live() const {
  std::vector<Live> all;
  for (const Storage& storage : storages_)
    if (storage.state == State::Counted)
      all.push_back({storage.bytes, storage.device, storage.category});
  return all;
}

}  // namespace tidemark::attribution
