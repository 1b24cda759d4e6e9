// Snapshots at the borders of module calls; peaks by windows.
#include "tidemark/libtorch/attribution/module_book.h"

#include <algorithm>

namespace tidemark::attribution {

ModuleNumber ModuleBook::add_module() {
  modules_.emplace_back();
  return static_cast<ModuleNumber>(modules_.size() - 1);
}

void ModuleBook::clear() {
  for (Module& module : modules_) {
    attribution_.close(module.forward);
    attribution_.close(module.backward);
    module.stats = {};
    module.is_known = module.went_backward = false;
  }
}

void ModuleBook::record(Module& module, Moment state, Rows rows) {
  if (!snapshots_ || !attribution_.scheme().keeps(state)) return;
  auto& list = module.stats.snapshots[static_cast<std::size_t>(state)];
  if (list.empty()) {
    module.stats.order.push_back(state);
    list.reserve(4);  // few are called only once
  }
  list.push_back(std::move(rows));
}

void ModuleBook::keep_highest(Module& module) {
  const auto keep = [&](Window& window, Moment state) {
    auto& list = module.stats.snapshots[static_cast<std::size_t>(state)];
    if (!window.is_open || list.empty()) return;
    attribution_.fold(window);
    list.back() = window.highest;
  };
  keep(module.forward, Moment::PeakForward);
  keep(module.backward, Moment::PeakBackward);
}

// A new window: the one before keeps what it had.
void ModuleBook::open(Module& module, bool in_backward) {
  if (!snapshots_) return;
  Window& window = in_backward ? module.backward : module.forward;
  keep_highest(module);
  attribution_.close(window);
  window = attribution_.open_window(in_backward);
  record(module, in_backward ? Moment::PeakBackward : Moment::PeakForward, attribution_.current());
}

// A call of a module whose moments are told: its last peaks may rise further.
void ModuleBook::go_on(Module& module) {
  const auto reopen = [&](Window& window, Moment state) {
    if (!module.stats.snapshots[static_cast<std::size_t>(state)].empty())
      attribution_.reopen(window);
  };
  reopen(module.forward, Moment::PeakForward);
  reopen(module.backward, Moment::PeakBackward);
}

// One of the calls that made the module active is over.
void ModuleBook::release(Module& module) {
  if (module.active == 0 || --module.active > 0) return;
  close(module);
}

void ModuleBook::close(Module& module) {
  keep_highest(module);
  attribution_.close(module.forward);
  attribution_.close(module.backward);
}

void ModuleBook::begin_forward(ModuleNumber number, std::uint32_t thread, bool in_backward) {
  Module& module = modules_[number];
  const bool known = module.is_known;
  module.is_known = true;
  ++module.active;
  auto& open_here = open_forwards_[thread];
  open_here.push_back(number);
  attribution_.work(thread).modules_open = static_cast<int>(open_here.size());
  if (attribution_.scheme().keeps_told()) return go_on(module);
  if (known && in_backward) {
    begin_recomputing(number, thread);
    record(module, Moment::PreRecompute, attribution_.current());
  } else {
    open(module, false);
    record(module, Moment::PreForward, attribution_.current());
  }
  // A call in a backward may raise the peak of a backward that has begun before.
  if (!module.stats.snapshots[static_cast<std::size_t>(Moment::PeakBackward)].empty())
    attribution_.reopen(module.backward);
}

void ModuleBook::end_forward(ModuleNumber number, std::uint32_t thread, bool in_backward) {
  auto& open_here = open_forwards_[thread];
  const auto call = std::find(open_here.rbegin(), open_here.rend(), number);
  if (call == open_here.rend()) return;
  open_here.erase(std::next(call).base());
  attribution_.work(thread).modules_open = static_cast<int>(open_here.size());
  stop_recomputing(number, thread);
  Module& module = modules_[number];
  if (!attribution_.scheme().keeps_told() || !module.stats.order.empty())
    record(module, in_backward ? Moment::PostRecompute : Moment::PostForward,
           attribution_.current());
  release(module);
}

void ModuleBook::begin_recomputing(ModuleNumber number, std::uint32_t thread) {
  if (recomputing_.try_emplace(thread, number).second) attribution_.work(thread).recomputing = true;
}

void ModuleBook::stop_recomputing(ModuleNumber number, std::uint32_t thread) {
  const auto outermost = recomputing_.find(thread);
  if (outermost == recomputing_.end() || outermost->second != number) return;
  recomputing_.erase(outermost);
  attribution_.work(thread).recomputing = false;
}

void ModuleBook::abandon_forward(ModuleNumber number, std::uint32_t thread) {
  auto& open_here = open_forwards_[thread];
  while (std::find(open_here.begin(), open_here.end(), number) != open_here.end()) {
    const ModuleNumber innermost = open_here.back();
    open_here.pop_back();
    stop_recomputing(innermost, thread);
    release(modules_[innermost]);
  }
  attribution_.work(thread).modules_open = static_cast<int>(open_here.size());
}

void ModuleBook::begin_backward(ModuleNumber number, std::uint32_t thread) {
  Module& module = modules_[number];
  ++module.active;
  in_backward_.push_back({number, thread});
  if (attribution_.scheme().keeps_told()) return go_on(module);
  open(module, true);
  record(module, Moment::PreBackward, attribution_.current());
}

void ModuleBook::end_backward(ModuleNumber number) {
  Module& module = modules_[number];
  record(module, Moment::PostBackward, attribution_.current());
  const auto open = std::find_if(in_backward_.rbegin(), in_backward_.rend(),
                                 [&](const OpenBackward& one) { return one.module == number; });
  if (open == in_backward_.rend()) return;
  in_backward_.erase(std::next(open).base());
  release(module);
}

void ModuleBook::tell(ModuleNumber number, Moment moment, std::uint32_t thread, bool in_backward) {
  Module& module = modules_[number];
  switch (moment) {
    case Moment::BeforePreForward:
      // A module that is called again before its backward goes on with what it has.
      if (!module.stats.order.empty() && (in_backward || !module.went_backward)) return;
      module.went_backward = false;
      open(module, false);
      break;
    case Moment::AfterPreForward:
      if (!in_backward) break;
      begin_recomputing(number, thread);
      return record(module, Moment::PreRecompute, attribution_.current());
    case Moment::BeforePostForward:
    case Moment::AfterPostForward:
      if (in_backward) return;  // the end of the call has told it
      break;
    case Moment::BeforePreBackward:
      module.went_backward = true;
      open(module, true);
      break;
    default: break;
  }
  record(module, moment, attribution_.current());
  if (module.active == 0) close(module);
}

void ModuleBook::finish_backward(std::uint32_t thread) {
  std::erase_if(in_backward_, [&](const OpenBackward& one) {
    if (one.thread != thread) return false;
    release(modules_[one.module]);
    return true;
  });
}

void ModuleBook::close_all() {
  in_backward_.clear();
  for (Module& module : modules_) {
    module.active = std::min(module.active, 1);
    release(module);
  }
  for (const auto& [thread, _] : open_forwards_) attribution_.work(thread).modules_open = 0;
  open_forwards_.clear();
  for (auto& [thread, _] : recomputing_) attribution_.work(thread).recomputing = false;
  recomputing_.clear();
}

const ModuleStats& ModuleBook::stats(ModuleNumber number) {
  keep_highest(modules_[number]);
  return modules_[number].stats;
}

Rows ModuleBook::local_peak(ModuleNumber number) {
  Module& module = modules_[number];
  keep_highest(module);
  const auto& backward = module.stats.snapshots[static_cast<std::size_t>(Moment::PeakBackward)];
  return backward.empty() ? module.forward.highest : module.backward.highest;
}

}  // namespace tidemark::attribution
