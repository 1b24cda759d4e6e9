// One pass over the events, with the state of every storage and the set of open scopes.
#include "tidemark/engine/tape/verify.h"

#include <vector>

#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/tape/open_calls.h"
#include "tidemark/engine/tape/pair_rules.h"
#include "tidemark/engine/tape/problems.h"
#include "tidemark/engine/tape/storage_states.h"

namespace tidemark {
namespace {

class Verifier {
 public:
  explicit Verifier(const Tape& tape) : tape_(tape), totals_(tape.tables().devices().size()) {}

  Diagnostics verify() {
    for (std::size_t i = 0; i < tape_.size(); ++i) check(i, tape_[i]);
    // The first of all stands in the diagnostic.
    for (OpenCalls::Slot call = open_.oldest(); call != OpenCalls::kNone; call = open_.newer(call))
      diagnose(found_, TapeProblem::ScopeLeftOpen, static_cast<std::size_t>(open_[call].begin));
    check_pairs(tape_, found_);
    return std::move(found_);
  }

 private:
  void check(std::size_t i, const Event& e) {
    if (i > 0 && e.time_ns < last_time_ns_) diagnose(found_, TapeProblem::TimeRunsBack, i);
    last_time_ns_ = e.time_ns;
    if (is_about_storage(e.kind)) check_storage(i, e);
    if (e.kind == Kind::ScopeBegin) open_.begin(e.scope, e.phase, static_cast<std::int64_t>(i));
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
    const OpenCalls::Slot meant = open_.meant(e.scope, e.phase);
    if (meant == OpenCalls::kNone) return diagnose(found_, TapeProblem::ScopeEndedTwice, i);
    open_.end(meant);
  }

  const Tape& tape_;
  Diagnostics found_;
  StorageStates states_;
  std::vector<std::int64_t> totals_;
  OpenCalls open_;
  std::int64_t last_time_ns_ = 0;
};

}  // namespace

Diagnostics verify(const Tape& tape) { return Verifier(tape).verify(); }

}  // namespace tidemark
