// Gathers births and deaths from allocations and from the nodes' edges, then sorts them by time.
#include "tidemark/engine/dataflow/timeline.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace tidemark::dataflow {
namespace {

class Gathering {
 public:
  Gathering(const Known& known, const Labels& labels, const std::vector<std::int64_t>& sizes)
      : known_(known),
        labels_(labels),
        sizes_(sizes),
        born_ns_(known.keys.size()),
        died_ns_(known.keys.size()),
        is_born_(known.keys.size()),
        last_(known.keys.size()) {}

  std::vector<Entry> run() {
    for (EventId event : known_.tree.events)
      if (known_.recording.events[event.value].kind == EventKind::Allocation)
        see(known_.recording.events[event.value]);
    add_preexisting();
    for (std::size_t node = 0; node < known_.flow.nodes.size(); ++node) add_edges(node);
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.time_ns, a.action) < std::pair(b.time_ns, b.action);
    });
    return std::move(entries_);
  }

  std::int64_t without_size() const { return without_size_; }

 private:
  void see(const Event& event) {
    const Allocation& a = known_.recording.allocations[event.detail];
    if (const KeyId key = known_.keys.of_allocations[event.detail]) {
      (a.bytes > 0 ? born_ns_ : died_ns_)[key.value] = event.start_ns;
      if (a.bytes > 0) is_born_[key.value] = true;
      return;
    }
    const std::pair address(a.pointer, a.device);
    if (a.bytes > 0) {
      const bool is_new = live_.insert(address).second;
      add_unknown(event.start_ns, is_new ? Action::Create : Action::IncrementVersion, a);
    } else {
      add_unknown(event.start_ns, Action::Destroy, a);
      if (live_.erase(address) == 0) add_unknown(kBeforeTheRun, Action::Preexisting, a);
    }
  }

  void add_unknown(std::int64_t time_ns, Action action, const Allocation& a) {
    const std::int64_t bytes = a.bytes == INT64_MIN ? INT64_MAX : std::abs(a.bytes);
    entries_.push_back({time_ns, bytes, KeyId(), 0, a.device, action});
  }

  void add_preexisting() {
    const std::vector<bool> in_use = versions_in_use(known_, labels_);
    for (std::uint32_t k = 0; k < known_.keys.size(); ++k) {
      const KeyId key(k);
      for (std::int32_t v = 0; v < labels_.rows().versions(key); ++v)
        if (in_use[labels_.rows().row(key, v)]) last_[k] = v;
      if (!is_born_[k] && in_use[labels_.rows().row(key, 0)])
        add(kBeforeTheRun, Action::Preexisting, key, 0);
    }
  }

  void add_edges(std::size_t node) {
    const EventId event = known_.tree.events[known_.flow.nodes[node]];
    for (const Edge& edge : known_.flow.edges_of(node)) {
      if (edge.is_allocation()) add(born_ns_[edge.key.value], Action::Create, edge.key, 0);
      else if (edge.change == Change::Written)
        add(known_.recording.events[event.value].start_ns, Action::IncrementVersion, edge.key,
            edge.input_version);
      if (edge.is_deletion())
        add(died_ns_[edge.key.value], Action::Destroy, edge.key, last_[edge.key.value]);
    }
  }

  void add(std::int64_t time_ns, Action action, KeyId key, std::int32_t version) {
    const std::int64_t bytes = sizes_[key.value];
    without_size_ += bytes == kUnknownBytes;
    entries_.push_back({time_ns, bytes == kUnknownBytes ? 0 : bytes, key, version,
                        known_.keys.all[key.value].device, action});
  }

  const Known& known_;
  const Labels& labels_;
  const std::vector<std::int64_t>& sizes_;
  std::vector<std::int64_t> born_ns_, died_ns_;  // by key
  std::vector<bool> is_born_;
  std::vector<std::int32_t> last_;  // by key: its last version in use
  std::set<std::pair<std::uint64_t, DeviceId>> live_;
  std::vector<Entry> entries_;
  std::int64_t without_size_ = 0;
};

}  // namespace

std::vector<Entry> find_timeline(const Known& known, const Labels& labels,
                                 const std::vector<std::int64_t>& sizes, Diagnostics& diagnostics) {
  Gathering gathering(known, labels, sizes);
  std::vector<Entry> entries = gathering.run();
  if (gathering.without_size() > 0)
    diagnostics.add("no-size", Severity::Warning, "", "the size of a storage is not known",
                    gathering.without_size());
  return entries;
}

}  // namespace tidemark::dataflow
