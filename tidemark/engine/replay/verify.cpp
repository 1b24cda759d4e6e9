// One replay, and what an observer of it finds that a replay does not mind.
#include "tidemark/engine/replay/verify.h"

#include "tidemark/engine/replay/pair_rules.h"
#include "tidemark/engine/replay/replay.h"

namespace tidemark {
namespace {

class Verifier {
 public:
  static constexpr Needs kNeeds = {.columns = kAllColumns, .scopes = true};
  explicit Verifier(const Tables& tables) : pairs_(tables) {}

  void see(const Event& e, const Change& change, const Replay& replay) {
    const auto event = static_cast<std::size_t>(replay.now().event);
    if (event > 0 && e.time_ns < last_time_ns_) diagnose(found_, TapeProblem::TimeRunsBack, event);
    last_time_ns_ = e.time_ns;
    if (e.kind == Kind::Free && change.problem == StorageProblem::None &&
        e.bytes != change.before.bytes())
      diagnose(found_, TapeProblem::WrongFreeSize, event);
    pairs_.check(event, e);
  }

  Diagnostics answer(const Replay& replay) const {
    Diagnostics all = replay.ledger().diagnostics();
    all.add(replay.scopes().final_diagnostics());
    all.add(found_);
    all.add(pairs_.final_diagnostics());
    return all;
  }

 private:
  PairRules pairs_;
  Diagnostics found_;
  std::int64_t last_time_ns_ = 0;
};

}  // namespace

// Requested bytes: they are what the tape holds.
Diagnostics verify(const Tape& tape) {
  Replay replay(tape.tables(), AccountingRule::Requested);
  Verifier verifier(tape.tables());
  replay.add_all(tape, verifier);
  return verifier.answer(replay);
}

}  // namespace tidemark
