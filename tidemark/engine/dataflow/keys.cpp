// Gathers the distinct ids of a recording and numbers them in order.
#include "tidemark/engine/dataflow/keys.h"

#include <algorithm>
#include <unordered_map>

#include "tidemark/engine/dataflow/identity.h"

namespace tidemark::dataflow {
namespace {

// A number for each id: a plain table where ids are as dense as recorders make them.
class Numbers {
 public:
  explicit Numbers(std::size_t rows) : table_(2 * rows + 1024, kNoRow) {}

  std::uint32_t& operator[](std::uint64_t id) {
    return id < table_.size() ? table_[id] : sparse_.try_emplace(id, kNoRow).first->second;
  }

 private:
  std::vector<std::uint32_t> table_;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
};

bool has_key(std::uint64_t pointer, std::uint64_t tensor_id, std::uint64_t allocation_id) {
  return pointer != 0 && tensor_id != kUnknown && allocation_id != kUnknown;
}

class KeyGathering {
 public:
  explicit KeyGathering(std::size_t rows) : numbers_(rows) {}

  KeyId key(const Key& key) {
    if (!has_key(key.pointer, key.tensor_id, key.allocation_id)) return {};
    std::uint32_t& number = numbers_[key.allocation_id];
    if (number == kNoRow) {
      number = static_cast<std::uint32_t>(keys_.all.size());
      keys_.all.push_back(key);
    }
    return KeyId(number);
  }

  // In the order of tensors, then of storages.
  Keys sorted(std::vector<KeyId> of_tensors, std::vector<KeyId> of_allocations) {
    std::vector<std::uint32_t> order(keys_.all.size()), rank(keys_.all.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return keys_.all[a] < keys_.all[b]; });
    std::vector<Key> all(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      all[i] = keys_.all[order[i]];
      rank[order[i]] = i;
    }
    for (auto* column : {&of_tensors, &of_allocations})
      for (KeyId& key : *column)
        if (key) key = KeyId(rank[key.value]);
    keys_.all = std::move(all);
    keys_.of_tensors = std::move(of_tensors);
    keys_.of_allocations = std::move(of_allocations);
    number_tensors();
    return std::move(keys_);
  }

 private:
  void number_tensors() {
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      if (k == 0 || keys_.all[k].tensor_id != keys_.all[k - 1].tensor_id) ++keys_.tensor_count;
      keys_.tensors.push_back(keys_.tensor_count - 1);
    }
  }

  Numbers numbers_;
  Keys keys_;
};

// Births of storages that were known before they were born.
std::uint64_t births_at_taken_addresses(const Recording& recording, const Tree& tree,
                                        const Keys& keys) {
  std::vector<bool> seen(keys.size());
  const auto see = [&](KeyId key) {
    if (key) seen[key.value] = true;
  };
  std::uint64_t found = 0;
  for (Position at : tree.by_time) {
    const Event& event = recording.events[tree.events[at].value];
    if (event.kind == EventKind::Allocation) {
      const KeyId key = keys.of_allocations[event.detail];
      if (key && recording.allocations[event.detail].bytes > 0 && seen[key.value]) ++found;
      see(key);
    } else if (event.kind == EventKind::Operator) {
      const Operator& op = recording.operators[event.detail];
      for (std::uint32_t i = op.first_input; i < op.first_input + op.input_count; ++i)
        for (std::uint32_t t = 0; t < recording.inputs[i].count; ++t)
          see(keys.of_tensors[recording.inputs[i].first + t]);
    }
  }
  return found;
}

Keys gather(const Recording& recording, const std::vector<Ids>* tensors,
            const std::vector<Ids>* allocations) {
  KeyGathering gathering(recording.tensors.size() + recording.allocations.size());
  std::vector<KeyId> of_tensors, of_allocations;
  of_tensors.reserve(recording.tensors.size());
  of_allocations.reserve(recording.allocations.size());
  for (std::size_t row = 0; row < recording.tensors.size(); ++row) {
    const TensorFacts& t = recording.tensors[row];
    const Ids ids = tensors ? (*tensors)[row] : Ids{t.tensor_id, t.allocation_id};
    of_tensors.push_back(gathering.key({ids.tensor, ids.allocation, t.storage, t.device}));
  }
  for (std::size_t row = 0; row < recording.allocations.size(); ++row) {
    const Allocation& a = recording.allocations[row];
    const Ids ids = allocations ? (*allocations)[row] : Ids{a.tensor_id, a.allocation_id};
    of_allocations.push_back(gathering.key({ids.tensor, ids.allocation, a.pointer, a.device}));
  }
  return gathering.sorted(std::move(of_tensors), std::move(of_allocations));
}

}  // namespace

Keys keys_as_recorded(const Recording& recording, const Tree& tree) {
  Keys keys = gather(recording, nullptr, nullptr);
  keys.reused_addresses = births_at_taken_addresses(recording, tree, keys);
  return keys;
}

Keys keys_as_found(const Recording& recording, const Tree& tree) {
  const FoundIds found = find_ids(recording, tree);
  Keys keys = gather(recording, &found.tensors, &found.allocations);
  keys.reused_addresses = found.reused_addresses;
  return keys;
}

}  // namespace tidemark::dataflow
