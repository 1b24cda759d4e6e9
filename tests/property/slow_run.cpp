// Plain maps, copied at each event and summed again at each event.
#include "tests/property/slow_run.h"

#include <algorithm>
#include <set>

namespace tidemark::test {
namespace {

std::int64_t rounded(std::int64_t bytes, const std::string& device) {
  return device.starts_with("cuda") ? (bytes + 511) / 512 * 512 : bytes;
}

// What the events say, kept in the plainest way.
class SlowReplay {
 public:
  explicit SlowReplay(SlowRun& run) : run_(run) {}

  void add(std::int64_t i, const Event& e) {
    if (i > 0 && e.time_ns < run_.tape[static_cast<std::size_t>(i - 1)].time_ns)
      ++run_.problems["time-runs-back"];
    if (e.kind == Kind::Step) ++now_.step;
    change_storage(i, e);
    if (e.kind == Kind::ScopeBegin) open_.push_back({e.scope, e.phase, i});
    if (e.kind == Kind::ScopeEnd) end_scope(i, e);
    if (e.kind == Kind::Input || e.kind == Kind::Output) use(e);
    if (e.kind == Kind::CallBegin || e.kind == Kind::CallEnd) pair_call(e);
    if (e.kind == Kind::SegmentMap || e.kind == Kind::SegmentUnmap) pair_segment(e);
    if (e.kind == Kind::PoolUse || e.kind == Kind::PoolRelease || e.kind == Kind::CacheEmpty)
      pair_pool(e);
    sum();
    run_.moments.push_back(now_);
  }

  void end(std::int64_t last) {
    for (; !open_.empty(); open_.pop_back()) {
      ++run_.problems["scope-left-open"];
      open_.back().end = last;
      run_.spans.push_back(open_.back());
    }
    for (; !called_.empty(); called_.pop_back()) ++run_.problems["call-left-open"];
  }

 private:
  void change_storage(std::int64_t i, const Event& e) {
    const bool is_alive = now_.alive.contains(e.subject);
    switch (e.kind) {
      case Kind::Alloc: {
        if (e.bytes < 0) ++run_.problems["negative-size"];
        else if (is_alive) ++run_.problems["alloc-twice"];
        now_.alive[e.subject] = {0, 0, e.category, e.device.value, i, e.scope};
        set_size(e.subject, e.bytes);
        seen_.insert(e.subject);
        break;
      }
      case Kind::Free:
        if (!is_alive) ++run_.problems[seen_.contains(e.subject) ? "double-free" : "free-unknown"];
        now_.alive.erase(e.subject);
        break;
      case Kind::Resize:
        if (is_alive && e.bytes < 0) ++run_.problems["negative-size"];
        if (is_alive) set_size(e.subject, e.bytes);
        break;
      case Kind::Block:
        if (is_alive && e.bytes < 0) ++run_.problems["negative-size"];
        if (is_alive) set_block(e.subject, e.bytes);
        break;
      case Kind::Relabel:
        if (is_alive) now_.alive[e.subject].category = e.category;
        if (is_alive && e.scope) now_.alive[e.subject].owner = e.scope;
        break;
      default: break;
    }
    const bool is_use = e.kind == Kind::Resize || e.kind == Kind::Relabel ||
                        e.kind == Kind::Block || e.kind == Kind::Input || e.kind == Kind::Output;
    if (is_use && !is_alive) ++run_.problems["dead-storage"];
  }

  void set_size(std::uint32_t storage, std::int64_t bytes) {
    SlowStorage& one = now_.alive[storage];
    one.requested = std::max<std::int64_t>(bytes, 0);
    one.allocated = rounded(one.requested, run_.device_name(one.device));
  }

  // What is not larger than nothing says nothing; a block holds what was requested.
  void set_block(std::uint32_t storage, std::int64_t bytes) {
    SlowStorage& one = now_.alive[storage];
    one.allocated = bytes > 0 ? std::max(bytes, one.requested)
                              : rounded(one.requested, run_.device_name(one.device));
  }

  // The newest open call of this scope and phase; else the newest of this scope.
  std::vector<SlowSpan>::iterator call_meant(const Event& e) {
    auto meant = open_.end();
    for (auto span = open_.begin(); span != open_.end(); ++span)
      if (span->scope == e.scope) meant = span;
    for (auto span = open_.begin(); span != open_.end(); ++span)
      if (span->scope == e.scope && span->phase == e.phase) meant = span;
    return meant;
  }

  void end_scope(std::int64_t i, const Event& e) {
    auto meant = call_meant(e);
    if (meant == open_.end()) {
      ++run_.problems["scope-not-open"];
      return;
    }
    meant->end = i;
    run_.spans.push_back(*meant);
    open_.erase(meant);
  }

  void use(const Event& e) {
    auto meant = call_meant(e);
    if (meant == open_.end() || !now_.alive.contains(e.subject)) return;
    (e.kind == Kind::Input ? meant->inputs : meant->outputs) += now_.alive[e.subject].requested;
  }

  void pair_call(const Event& e) {
    const std::string op(run_.tape.tables().op_name(e.call));
    if (e.kind == Kind::CallBegin) return called_.push_back(op);
    const auto call = std::find(called_.begin(), called_.end(), op);
    if (call == called_.end()) ++run_.problems["call-not-open"];
    else called_.erase(call);
  }

  void pair_segment(const Event& e) {
    const std::pair segment(run_.device_name(e.device.value), e.subject);
    const bool is_mapped = mapped_.contains(segment);
    if (e.kind == Kind::SegmentMap) {
      if (is_mapped) ++run_.problems["segment-mapped-twice"];
      mapped_[segment] = e.bytes;
      return;
    }
    if (!is_mapped) ++run_.problems["segment-not-mapped"];
    else if (mapped_[segment] != e.bytes) ++run_.problems["wrong-unmap-size"];
    mapped_.erase(segment);
  }

  void pair_pool(const Event& e) {
    const std::pair pool(run_.device_name(e.device.value), e.subject);
    if (e.kind == Kind::PoolUse && e.subject > 0) {
      used_.insert(pool);
      known_pools_.insert(pool);
    }
    const bool releases_none = e.kind == Kind::PoolRelease && !used_.erase(pool);
    const bool empties_none =
        e.kind == Kind::CacheEmpty && e.subject > 0 && !known_pools_.contains(pool);
    if (releases_none || empties_none) ++run_.problems["pool-not-in-use"];
  }

  void sum() {
    now_.rows.assign(run_.device_count(), {});
    for (const auto& [storage, one] : now_.alive) {
      SlowRow& row = now_.rows[one.device];
      row.allocated += one.allocated;
      row.requested += one.requested;
      if (one.allocated > 0) row.categories[one.category] += one.allocated;
    }
  }

  SlowRun& run_;
  SlowMoment now_;
  std::set<std::uint32_t> seen_;
  std::vector<SlowSpan> open_;
  std::vector<std::string> called_;                                       // operators
  std::map<std::pair<std::string, std::uint32_t>, std::int64_t> mapped_;  // device and number
  std::set<std::pair<std::string, std::uint32_t>> used_, known_pools_;    // likewise
};

}  // namespace

CategoryBytes SlowRow::as_array() const {
  CategoryBytes bytes{};
  for (const auto& [category, sum] : categories) bytes[static_cast<std::size_t>(category)] = sum;
  return bytes;
}

SlowRun::SlowRun(const Tape& run) : tape(run) {
  SlowReplay replay(*this);
  for (std::size_t i = 0; i < tape.size(); ++i) replay.add(static_cast<std::int64_t>(i), tape[i]);
  replay.end(static_cast<std::int64_t>(tape.size()) - 1);
}

}  // namespace tidemark::test
