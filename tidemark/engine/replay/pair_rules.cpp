// Keeps what is open, and looks for it when it ends.
#include "tidemark/engine/replay/pair_rules.h"

#include <set>

#include "tidemark/engine/tape/problems.h"

namespace tidemark {

void PairRules::check(std::size_t event, const Event& e) {
  switch (e.kind) {
    case Kind::CallBegin: open_calls_[operator_of(e)].push_back(event); break;
    case Kind::CallEnd: check_return(event, e); break;
    case Kind::SegmentMap: check_map(event, e); break;
    case Kind::SegmentUnmap: check_unmap(event, e); break;
    case Kind::PoolUse:
    case Kind::PoolRelease:
    case Kind::CacheEmpty: check_pool(event, e); break;
    default: break;
  }
}

StringId PairRules::operator_of(const Event& e) const {
  return e.call ? tables_->calls()[e.call.value].op : StringId();
}

void PairRules::check_return(std::size_t event, const Event& e) {
  std::vector<std::size_t>& calls = open_calls_[operator_of(e)];
  if (calls.empty()) return diagnose(found_, TapeProblem::CallNotOpen, event);
  calls.pop_back();
}

void PairRules::check_map(std::size_t event, const Event& e) {
  const auto [known, is_new] = mapped_bytes_.try_emplace({e.device, e.subject});
  if (!is_new) diagnose(found_, TapeProblem::SegmentMappedTwice, event);
  known->second = e.bytes;
}

void PairRules::check_unmap(std::size_t event, const Event& e) {
  const auto known = mapped_bytes_.find({e.device, e.subject});
  if (known == mapped_bytes_.end()) return diagnose(found_, TapeProblem::SegmentNotMapped, event);
  if (known->second != e.bytes) diagnose(found_, TapeProblem::WrongUnmapSize, event);
  mapped_bytes_.erase(known);
}

// The pool that all share is always in use, and never released.
void PairRules::check_pool(std::size_t event, const Event& e) {
  if (e.subject == 0 && e.kind != Kind::PoolRelease) return;
  if (e.kind == Kind::PoolUse) {
    has_user_[{e.device, e.subject}] = true;
    return;
  }
  const auto known = has_user_.find({e.device, e.subject});
  const bool is_wrong = known == has_user_.end() || (e.kind == Kind::PoolRelease && !known->second);
  if (is_wrong) return diagnose(found_, TapeProblem::PoolNotInUse, event);
  if (e.kind == Kind::PoolRelease) known->second = false;
}

Diagnostics PairRules::final_diagnostics() const {
  std::set<std::size_t> left_open;  // the first of all stands in the diagnostic
  for (const auto& [op, calls] : open_calls_) left_open.insert(calls.begin(), calls.end());
  Diagnostics all = found_;
  for (std::size_t call : left_open) diagnose(all, TapeProblem::CallLeftOpen, call);
  return all;
}

}  // namespace tidemark
