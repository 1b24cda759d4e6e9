// Gathers births and deaths from allocations and from the nodes' edges, then sorts them by time.
#include "tidemark/engine/dataflow/timeline.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace tidemark::dataflow {
namespace {

class EntryGathering {
 public:
  EntryGathering(const Known& known, const Labels& labels, const std::vector<std::int64_t>& sizes)
      : known_(known),
        labels_(labels),
        sizes_(sizes),
        born_at_(known.keys.size(), kNoPosition),
        died_at_(known.keys.size(), kNoPosition),
        last_(known.keys.size()) {}

  std::vector<Entry> run() {
    for (Position at = 0; at < known_.tree.size(); ++at)
      if (event_at(at).kind == EventKind::Allocation) see(at);
    add_preexisting();
    for (std::size_t node = 0; node < known_.flow.nodes.size(); ++node) add_edges(node);
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.time_ns, a.action) < std::pair(b.time_ns, b.action);
    });
    return std::move(entries_);
  }

  std::int64_t without_size() const { return without_size_; }

 private:
  const Event& event_at(Position at) const {
    return known_.recording.events[known_.tree.events[at].value];
  }

  void see(Position at) {
    const std::uint32_t row = event_at(at).detail;
    const Allocation& a = known_.recording.allocations[row];
    if (const KeyId key = known_.keys.of_allocations[row]) {
      (a.bytes > 0 ? born_at_ : died_at_)[key.value] = at;
      return;
    }
    const std::pair address(a.pointer, a.device);
    if (a.bytes > 0) {
      const bool is_new = live_.insert(address).second;
      add_unknown(at, is_new ? Action::Create : Action::IncrementVersion, row);
    } else {
      add_unknown(at, Action::Destroy, row);
      if (live_.erase(address) == 0) add_unknown(kNoPosition, Action::Preexisting, row);
    }
  }

  void add_unknown(Position at, Action action, std::uint32_t row) {
    const Allocation& a = known_.recording.allocations[row];
    Entry entry;
    entry.bytes = a.bytes == INT64_MIN ? INT64_MAX : std::abs(a.bytes);
    entry.allocation = row;
    entry.device = a.device;
    add_at(entry, at, action);
  }

  void add_at(Entry& entry, Position at, Action action) {
    entry.at = at;
    entry.action = action;
    if (at != kNoPosition) entry.time_ns = event_at(at).start_ns;
    entries_.push_back(entry);
  }

  void add_preexisting() {
    const std::vector<bool> in_use = versions_in_use(known_, labels_);
    for (std::uint32_t k = 0; k < known_.keys.size(); ++k) {
      const KeyId key(k);
      for (std::int32_t v = 0; v < labels_.rows().versions(key); ++v)
        if (in_use[labels_.rows().row(key, v)]) last_[k] = v;
      if (born_at_[k] == kNoPosition && in_use[labels_.rows().row(key, 0)])
        add(kNoPosition, Action::Preexisting, key, 0);
    }
  }

  void add_edges(std::size_t node) {
    for (const Edge& edge : known_.flow.edges_of(node)) {
      if (edge.is_allocation()) add(born_at_[edge.key.value], Action::Create, edge.key, 0);
      else if (edge.change == Change::Written)
        add(known_.flow.nodes[node], Action::IncrementVersion, edge.key, edge.input_version);
      if (edge.is_deletion())
        add(died_at_[edge.key.value], Action::Destroy, edge.key, last_[edge.key.value]);
    }
  }

  void add(Position at, Action action, KeyId key, std::int32_t version) {
    const std::int64_t bytes = sizes_[key.value];
    without_size_ += bytes == kUnknownBytes;
    Entry entry;
    entry.bytes = bytes == kUnknownBytes ? 0 : bytes;
    entry.key = key;
    entry.version = version;
    entry.device = known_.keys.all[key.value].device;
    add_at(entry, at, action);
  }

  const Known& known_;
  const Labels& labels_;
  const std::vector<std::int64_t>& sizes_;
  std::vector<Position> born_at_, died_at_;  // by key: the last such events of the row
  std::vector<std::int32_t> last_;           // by key: its last version in use
  std::set<std::pair<std::uint64_t, DeviceId>> live_;
  std::vector<Entry> entries_;
  std::int64_t without_size_ = 0;
};

}  // namespace

std::vector<Entry> find_timeline(const Known& known, const Labels& labels,
                                 const std::vector<std::int64_t>& sizes, Diagnostics& diagnostics) {
  EntryGathering gathering(known, labels, sizes);
  std::vector<Entry> entries = gathering.run();
  if (gathering.without_size() > 0)
    diagnostics.add("no-size", Severity::Warning, "", "the size of a storage is not known",
                    gathering.without_size());
  return entries;
}

}  // namespace tidemark::dataflow
