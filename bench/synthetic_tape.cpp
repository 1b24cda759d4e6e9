// Fills the live set, then frees and allocates at random inside nested scopes.
#include "bench/synthetic_tape.h"

#include <random>
#include <string>

namespace tidemark::bench {
namespace {

class Planner {
 public:
  explicit Planner(const SyntheticShape& shape) : shape_(shape) {
    actions_.reserve(shape.events);
    live_.reserve(shape.live_storages + 1);
  }

  std::vector<Action> plan() {
    while (actions_.size() < shape_.events) {
      const auto roll = random_() % 32;
      if (roll == 0) begin_scope();
      else if (roll == 1) end_scope();
      else if (roll == 2 && !live_.empty()) relabel();
      else if (live_.size() >= shape_.live_storages) free();
      else alloc();
    }
    return std::move(actions_);
  }

 private:
  std::uint8_t category() { return static_cast<std::uint8_t>(random_() % shape_.categories); }

  void alloc() {
    actions_.push_back(
        {Kind::Alloc, category(), born_, static_cast<std::int64_t>(random_() % (4u << 20))});
    live_.push_back(born_++);
  }
  void free() {
    const std::size_t at = random_() % live_.size();
    actions_.push_back({Kind::Free, 0, live_[at], 0});
    live_[at] = live_.back();
    live_.pop_back();
  }
  void relabel() {
    actions_.push_back({Kind::Relabel, category(), live_[random_() % live_.size()], 0});
  }
  void begin_scope() {
    if (open_.size() >= 8) return end_scope();
    open_.push_back(static_cast<std::uint32_t>(random_() % shape_.scopes));
    actions_.push_back({Kind::ScopeBegin, 0, open_.back(), 0});
  }
  void end_scope() {
    if (open_.empty()) return;
    actions_.push_back({Kind::ScopeEnd, 0, open_.back(), 0});
    open_.pop_back();
  }

  const SyntheticShape shape_;
  std::minstd_rand random_{20'26};
  std::vector<Action> actions_;
  std::vector<std::uint32_t> live_, open_;
  std::uint32_t born_ = 0;
};

}  // namespace

std::vector<Action> plan_run(const SyntheticShape& shape) { return Planner(shape).plan(); }

Tape build_run(const SyntheticShape& shape, const std::vector<Action>& actions) {
  TapeBuilder builder;
  const DeviceId device = builder.tables().device("cuda:0");
  std::vector<ScopeId> scopes;
  for (std::uint32_t s = 0; s < shape.scopes; ++s)
    scopes.push_back(builder.tables().scope("layers." + std::to_string(s)));
  const Place place{builder.tables().call("aten::mm"), builder.tables().stack({}, "train.py", 7),
                    builder.tables().stream(0), std::nullopt, std::nullopt};
  for (const Action& a : actions) switch (a.kind) {
      case Kind::Alloc:
        builder.alloc(device, a.bytes, static_cast<Category>(a.category), place);
        break;
      case Kind::Free: builder.free(StorageId(a.subject), place); break;
      case Kind::Relabel:
        builder.relabel(StorageId(a.subject), static_cast<Category>(a.category), place);
        break;
      case Kind::ScopeBegin: builder.begin_scope(scopes[a.subject], place); break;
      default: builder.end_scope(scopes[a.subject], place); break;
    }
  return builder.finish();
}

}  // namespace tidemark::bench
