// One pass over the events, with the state of every storage and the set of open scopes.
#include "tidemark/tape/verify.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tidemark/base/saturating.h"
#include "tidemark/tape/problems.h"
#include "tidemark/tape/storage_states.h"

namespace tidemark {
namespace {

class Verifier {
 public:
  explicit Verifier(const Tape& tape) : tape_(tape), totals_(tape.tables().devices().size()) {}

  Diagnostics verify() {
    for (std::size_t i = 0; i < tape_.size(); ++i) check(i, tape_[i]);
    std::set<std::size_t> left_open;  // the first of all scopes stands in the diagnostic
    for (const auto& [scope, begins] : open_)
      for (const Begin& begin : begins) left_open.insert(begin.event);
    for (std::size_t begin : left_open) diagnose(found_, TapeProblem::ScopeLeftOpen, begin);
    return std::move(found_);
  }

 private:
  struct Begin {
    std::size_t event;
    Phase phase;
  };

  void check(std::size_t i, const Event& e) {
    if (i > 0 && e.time_ns < last_time_ns_) diagnose(found_, TapeProblem::TimeRunsBack, i);
    last_time_ns_ = e.time_ns;
    if (is_about_storage(e.kind)) check_storage(i, e);
    if (e.kind == Kind::ScopeBegin) open_[e.scope].push_back({i, e.phase});
    if (e.kind == Kind::ScopeEnd) check_scope_end(i, e);
  }

  void check_storage(std::size_t i, const Event& e) {
    const StorageChange change = states_.apply(e);
    if (change.problem != StorageProblem::None)
      diagnose(found_, tape_problem(change.problem), i);
    else if (e.kind == Kind::Free && e.bytes != change.before.bytes)
      diagnose(found_, TapeProblem::WrongFreeSize, i);
    if (change.before.alive()) {
      std::int64_t& total = totals_[change.before.device.value];
      total = subtract_saturating(total, change.before.bytes);
    }
    if (change.after.alive()) {
      std::int64_t& total = totals_[change.after.device.value];
      total = add_saturating(total, change.after.bytes);
      if (total == INT64_MAX) diagnose(found_, TapeProblem::TotalOverflows, i);
    }
  }

  void check_scope_end(std::size_t i, const Event& e) {
    auto open = open_.find(e.scope);
    if (open == open_.end()) return diagnose(found_, TapeProblem::ScopeEndedTwice, i);
    std::vector<Begin>& begins = open->second;
    // As in replay: a call that began in the same phase is the one meant; else the newest.
    auto meant = std::find_if(begins.rbegin(), begins.rend(),
                              [&](const Begin& begin) { return begin.phase == e.phase; });
    begins.erase(meant == begins.rend() ? std::prev(begins.end()) : std::prev(meant.base()));
    if (begins.empty()) open_.erase(open);
  }

  const Tape& tape_;
  Diagnostics found_;
  StorageStates states_;
  std::vector<std::int64_t> totals_;
  std::map<ScopeId, std::vector<Begin>> open_;
  std::int64_t last_time_ns_ = 0;
};

}  // namespace

Diagnostics verify(const Tape& tape) { return Verifier(tape).verify(); }

}  // namespace tidemark
