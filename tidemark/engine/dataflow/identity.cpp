// Numbers storages in time, then joins those that one tensor object was seen with.
#include "tidemark/engine/dataflow/identity.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tidemark::dataflow {
namespace {

struct Address {
  std::uint64_t pointer;
  DeviceId device;
  bool operator==(const Address&) const = default;
};

struct AddressHash {
  std::size_t operator()(const Address& a) const noexcept {
    return (a.pointer ^ (std::uint64_t{a.device.value} << 56)) * 0x9E3779B97F4A7C15u >> 7;
  }
};

// The five steps, one record after the other.
class Finding {
 public:
  explicit Finding(const Recording& recording) : recording_(recording) {
    found_.tensors.resize(recording.tensors.size());
    found_.allocations.resize(recording.allocations.size());
    address_.reserve(recording.allocations.size());
    first_storage_.reserve(recording.tensors.size() / 2);
  }

  void see(const Event& event) {
    if (event.kind == EventKind::Operator) see_inputs(recording_.operators[event.detail]);
    if (event.kind == EventKind::Allocation) see_allocation(event.detail);
    if (event.kind == EventKind::PythonCall && event.detail != kNoRow)
      see_owner(recording_.owners[event.detail]);
  }

  FoundIds finish() {
    const std::vector<std::uint64_t> groups = join();
    for (auto* column : {&found_.tensors, &found_.allocations})
      for (Ids& ids : *column)
        if (ids.allocation != kUnknown) ids.tensor = groups[ids.allocation];
    return std::move(found_);
  }

 private:
  void see_inputs(const Operator& op) {
    for (std::uint32_t i = op.first_input; i < op.first_input + op.input_count; ++i)
      for (std::uint32_t t = 0; t < recording_.inputs[i].count; ++t)
        see_tensor(TensorRow(recording_.inputs[i].first + t));
  }

  void see_owner(const Owner& owner) {
    for (std::uint32_t p = 0; p < owner.parameter_count; ++p) {
      const OwnedParameter& owned = recording_.parameters[owner.first_parameter + p];
      see_tensor(owned.parameter);
      see_tensor(owned.gradient);
      for (std::uint32_t s = 0; s < owned.state_count; ++s)
        see_tensor(recording_.states[owned.first_state + s].tensor);
    }
  }

  void see_tensor(TensorRow row) {
    if (!row) return;
    const TensorFacts& t = recording_.tensors[row.value];
    if (t.tensor == 0 || t.storage == 0) return;
    const std::uint64_t storage = address_.try_emplace({t.storage, t.device}, next_).first->second;
    if (storage == next_) ++next_;
    found_.tensors[row.value].allocation = storage;
    const std::uint64_t first = first_storage_.try_emplace(t.tensor, storage).first->second;
    pairs_.emplace_back(std::min(first, storage), std::max(first, storage));
  }

  void see_allocation(std::uint32_t row) {
    const Allocation& a = recording_.allocations[row];
    if (a.pointer == 0) return;
    const Address address{a.pointer, a.device};
    auto [entry, is_new] = address_.try_emplace(address, next_);
    if (!is_new && a.bytes > 0) {
      ++found_.reused_addresses;
      entry->second = next_;
    }
    if (entry->second == next_) ++next_;
    found_.allocations[row].allocation = entry->second;
    if (a.bytes < 0) address_.erase(entry);
  }

  // The tensor's number by that of the storage. The smaller storage of a pair leads: a storage that
  // already has a tensor keeps it.
  std::vector<std::uint64_t> join() {
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    std::vector<std::uint64_t> groups(next_, kUnknown);
    std::uint64_t group_count = 0;
    for (const auto& [smaller, larger] : pairs_) {
      if (groups[smaller] == kUnknown) groups[smaller] = group_count++;
      if (groups[larger] == kUnknown) groups[larger] = groups[smaller];
    }
    return groups;
  }

  const Recording& recording_;
  FoundIds found_;
  std::uint64_t next_ = 1;
  std::unordered_map<Address, std::uint64_t, AddressHash> address_;
  std::unordered_map<std::uint64_t, std::uint64_t> first_storage_;  // by tensor object
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs_;
};

}  // namespace

FoundIds find_ids(const Recording& recording, const Tree& tree) {
  Finding finding(recording);
  for (Position at : tree.by_time) finding.see(recording.events[tree.events[at].value]);
  return finding.finish();
}

}  // namespace tidemark::dataflow
