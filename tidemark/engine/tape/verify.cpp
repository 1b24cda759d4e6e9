// One pass over the events, with the state of every storage and the set of open scopes.
#include "tidemark/engine/tape/verify.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "tidemark/engine/base/saturating.h"
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
    std::set<std::size_t> left_open;  // the first of all scopes stands in the diagnostic
    for (const auto& [scope, phases] : open_)
      for (const auto& begins : phases) left_open.insert(begins.begin(), begins.end());
    for (std::size_t begin : left_open) diagnose(found_, TapeProblem::ScopeLeftOpen, begin);
    check_pairs(tape_, found_);
    return std::move(found_);
  }

 private:
  // The events that began calls of a scope still open, newest last, by phase.
  using Begins = std::array<std::vector<std::size_t>, kPhaseCount>;

  void check(std::size_t i, const Event& e) {
    if (i > 0 && e.time_ns < last_time_ns_) diagnose(found_, TapeProblem::TimeRunsBack, i);
    last_time_ns_ = e.time_ns;
    if (is_about_storage(e.kind)) check_storage(i, e);
    if (e.kind == Kind::ScopeBegin) open_[e.scope][static_cast<std::size_t>(e.phase)].push_back(i);
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
    std::vector<std::size_t>& meant = calls_meant(open_[e.scope], e.phase);
    if (meant.empty()) return diagnose(found_, TapeProblem::ScopeEndedTwice, i);
    meant.pop_back();
  }

  // As in replay: a call that began in the same phase is the one meant; else the newest.
  static std::vector<std::size_t>& calls_meant(Begins& phases, Phase phase) {
    auto& own = phases[static_cast<std::size_t>(phase)];
    if (!own.empty()) return own;
    return *std::max_element(phases.begin(), phases.end(), [](const auto& a, const auto& b) {
      return !b.empty() && (a.empty() || a.back() < b.back());
    });
  }

  const Tape& tape_;
  Diagnostics found_;
  StorageStates states_;
  std::vector<std::int64_t> totals_;
  std::map<ScopeId, Begins> open_;
  std::int64_t last_time_ns_ = 0;
};

}  // namespace

Diagnostics verify(const Tape& tape) { return Verifier(tape).verify(); }

}  // namespace tidemark
