// One small action per kind of event, chosen by weight.
#include "tests/property/random_tape.h"

#include <algorithm>
#include <array>

namespace tidemark::test {
namespace {

constexpr std::array<const char*, 4> kDevices = {"cpu", "cuda:0", "cuda:1", "mps:0"};
constexpr std::array<const char*, 12> kScopes = {
    "model",    "model.layers.0",   "model.layers.1", "model.layers.2", "layers.10",
    "layers.2", "layers.2.attn",    "head",           "my region",      "-",
    "a..b",     "layers.2.attn.out"};
constexpr std::array<const char*, 5> kOps = {"aten::mm", "aten::empty", "aten::add_", "my op",
                                             "x=y"};
constexpr std::array<std::int64_t, 8> kSizes = {0, 1, 100, 511, 512, 513, 1024, 4096};

class Writer {
 public:
  Writer(TapeBuilder& builder, std::uint64_t seed, const std::function<void()>& after)
      : builder_(builder), random_(seed), after_(after) {
    device_count_ = 1 + random_.below(3);
    first_device_ = random_.below(kDevices.size());
    is_irregular_ = random_.chance(0.3);
    has_negative_ = random_.chance(0.05);
    has_times_ = random_.chance(0.5);
    has_places_ = random_.chance(0.7);
    if (random_.chance(0.3)) builder_.tables().set_meta("gpu", "none at all");
    const std::size_t most = random_.chance(0.3) ? 12 : kMostEvents;
    wanted_ = is_large(seed) ? kMostEventsOfLarge : random_.below(most + 1);
  }

  void write(std::size_t limit) {
    const std::size_t events = std::min(wanted_, limit);
    while (builder_.size() < events) {
      const std::size_t before = builder_.size();
      if (has_times_) move_time();
      act();
      if (builder_.size() > before) after_();
    }
  }

 private:
  using Action = void (Writer::*)();
  struct Weighted {
    unsigned weight;
    Action action;
  };

  void act() {
    static constexpr std::array<Weighted, 16> kActions = {{{30, &Writer::alloc},
                                                           {22, &Writer::free},
                                                           {6, &Writer::resize},
                                                           {6, &Writer::relabel},
                                                           {5, &Writer::block},
                                                           {10, &Writer::begin},
                                                           {9, &Writer::end},
                                                           {4, &Writer::input},
                                                           {4, &Writer::output},
                                                           {2, &Writer::call},
                                                           {2, &Writer::return_},
                                                           {5, &Writer::phase},
                                                           {3, &Writer::step},
                                                           {2, &Writer::mark},
                                                           {2, &Writer::segment},
                                                           {3, &Writer::pool}}};
    if (is_irregular_ && random_.chance(0.06)) return act_irregularly();
    std::uint64_t at = random_.below(115);
    for (const Weighted& choice : kActions) {
      if (at < choice.weight) return (this->*choice.action)();
      at -= choice.weight;
    }
  }

  void act_irregularly() {
    static constexpr std::array<Action, 6> kActions = {
        &Writer::touch_dead, &Writer::touch_unknown, &Writer::alloc_alive,
        &Writer::alloc_dead, &Writer::end_any,       &Writer::turn_time_back};
    (this->*kActions[random_.below(kActions.size())])();
  }

  void move_time() {
    if (random_.chance(0.5)) return;
    time_ns_ += static_cast<std::int64_t>(random_.below(1000));
    builder_.set_time(time_ns_);
  }

  Place place() {
    Place place;
    if (!has_places_ || random_.chance(0.5)) return place;
    Tables& tables = builder_.tables();
    if (random_.chance(0.6))
      place.call = tables.call(random_.pick(kOps), random_.chance(0.5) ? "" : "(2, 3) f32");
    if (random_.chance(0.5)) place.stack = stack();
    if (random_.chance(0.2))
      place.stream = tables.stream(static_cast<std::int64_t>(random_.below(3)));
    if (random_.chance(0.1)) place.scope = random_.chance(0.3) ? ScopeId() : scope();
    if (random_.chance(0.1)) place.phase = any_phase();
    return place;
  }

  StackId stack() {
    Tables& tables = builder_.tables();
    const auto line = static_cast<std::uint32_t>(random_.below(4));
    const StackId main = tables.stack({}, "train.py", line, random_.chance(0.5) ? "main" : "");
    return random_.chance(0.5) ? main : tables.stack(main, "model.py", line, "forward");
  }

  ScopeId scope() { return builder_.tables().scope(random_.pick(kScopes)); }
  Phase any_phase() { return static_cast<Phase>(random_.below(kPhaseCount)); }
  Category any_category() { return static_cast<Category>(random_.below(kCategoryCount)); }
  DeviceId device() {
    const std::size_t number = first_device_ + random_.below(device_count_);
    return builder_.tables().device(kDevices[number % kDevices.size()]);
  }
  std::int64_t size() {
    if (has_negative_ && random_.chance(0.1)) return -5;
    return random_.chance(0.7) ? random_.pick(kSizes)
                               : static_cast<std::int64_t>(random_.below(9999));
  }

  void alloc() { alive_.push_back(builder_.alloc(device(), size(), any_category(), place())); }
  void free() {
    if (alive_.empty()) return;
    StorageId& chosen = random_.pick(alive_);
    builder_.free(chosen, place());
    dead_.push_back(chosen);
    chosen = alive_.back();
    alive_.pop_back();
  }
  void resize() {
    if (!alive_.empty()) builder_.resize(random_.pick(alive_), size(), place());
  }
  void block() {
    if (!alive_.empty()) builder_.block(random_.pick(alive_), size(), place());
  }
  void relabel() {
    if (!alive_.empty()) builder_.relabel(random_.pick(alive_), any_category(), place());
  }
  void input() {
    if (!alive_.empty()) builder_.input(random_.pick(alive_), place());
  }
  void output() {
    if (!alive_.empty()) builder_.output(random_.pick(alive_), place());
  }
  void begin() {
    open_.push_back(scope());
    builder_.begin_scope(open_.back(), place());
  }
  // Mostly the innermost, as modules do; at times another, as backward hooks do.
  void end() {
    if (open_.empty()) return;
    const std::size_t chosen = random_.chance(0.7) ? open_.size() - 1 : random_.below(open_.size());
    builder_.end_scope(open_[chosen], place());
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  void call() { builder_.begin_call(builder_.tables().call(random_.pick(kOps)), place()); }
  void return_() { builder_.end_call(builder_.tables().call(random_.pick(kOps), "(1)"), place()); }
  void phase() { builder_.set_phase(any_phase()); }
  void step() { builder_.begin_step(); }
  void mark() { builder_.mark(random_.chance(0.5) ? "half way" : "\xc3\xa4 \"b\"\n", place()); }
  void segment() {
    const auto number = static_cast<std::uint32_t>(random_.below(5));
    const std::int64_t bytes = random_.chance(0.8) ? 2 << 20 : 4 << 20;
    if (random_.chance(0.5)) builder_.map_segment(device(), number, bytes, place());
    else builder_.unmap_segment(device(), number, bytes, place());
  }

  void pool() {
    const auto number = static_cast<std::uint32_t>(random_.below(4));
    if (random_.chance(0.6)) return builder_.use_pool(device(), number, place());
    if (random_.chance(0.5)) return builder_.empty_cache(device(), number, place());
    builder_.release_pool(device(), number, place());
  }

  void touch(StorageId storage) {
    switch (random_.below(5)) {
      case 0: return builder_.free(storage, place());
      case 3: return builder_.block(storage, size(), place());
      case 1: return builder_.resize(storage, size(), place());
      case 2: return builder_.relabel(storage, any_category(), place());
      default: return builder_.input(storage, place());
    }
  }
  void touch_dead() {
    if (!dead_.empty()) touch(random_.pick(dead_));
  }
  void touch_unknown() { touch(builder_.new_storage()); }
  void alloc_alive() {
    if (!alive_.empty())
      builder_.alloc_as(random_.pick(alive_), device(), size(), any_category(), place());
  }
  void alloc_dead() {
    if (dead_.empty()) return;
    alive_.push_back(dead_.back());
    dead_.pop_back();
    builder_.alloc_as(alive_.back(), device(), size(), any_category(), place());
  }
  void end_any() { builder_.end_scope(scope(), place()); }
  void turn_time_back() {
    time_ns_ -= 500;
    builder_.set_time(time_ns_);
    mark();
  }

  TapeBuilder& builder_;
  Random random_;
  const std::function<void()>& after_;
  std::size_t wanted_ = 0, device_count_ = 1, first_device_ = 0;
  bool is_irregular_ = false, has_negative_ = false, has_times_ = false, has_places_ = false;
  std::int64_t time_ns_ = 0;
  std::vector<StorageId> alive_, dead_;
  std::vector<ScopeId> open_;
};

}  // namespace

void write_random_tape(TapeBuilder& builder, std::uint64_t seed, const std::function<void()>& after,
                       std::size_t limit) {
  Writer(builder, seed, after).write(limit);
}

Tape random_tape(std::uint64_t seed, std::size_t limit) {
  TapeBuilder builder;
  write_random_tape(
      builder, seed, [] {}, limit);
  return builder.finish();
}

}  // namespace tidemark::test
