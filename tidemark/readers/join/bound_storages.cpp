// One walk in time; each open operator keeps what was allocated in it and is not yet bound.
#include "tidemark/readers/join/bound_storages.h"

#include <algorithm>
#include <unordered_set>

#include "tidemark/engine/base/rounding.h"
#include "tidemark/readers/kineto/time_walk.h"

namespace tidemark::join {
namespace {

using chakra::ExecutionNodes;
using chakra::Node;
using chakra::TensorUse;
using kineto::MemoryRow;
using kineto::Span;
using kineto::TraceContents;

// An operator returns what it allocates in nearly that order: no more are looked through for one.
constexpr std::size_t kMostLookedThrough = 1024;
constexpr std::size_t kMostUnbound = 1 << 16;

class Binding {
 public:
  Binding(const TraceContents& trace, const ExecutionNodes& nodes)
      : trace_(trace), nodes_(nodes), threads_(trace.threads.size()) {
    found_.of_memory.resize(trace.memory.size(), kNone);
    found_.of_uses.resize(nodes.uses.size(), kNone);
    found_.nodes.resize(trace.spans.size(), kNone);
    for (std::uint32_t i = 0; i < nodes.nodes.size(); ++i)
      by_record_.emplace(nodes.nodes[i].record, i);
    for (const std::string& name : nodes.devices) devices_.push_back(device_named(name));
  }

  BoundStorages run() {
    kineto::walk_in_time(
        trace_, [&](const Span& span, std::uint32_t number) { begin(span, number); },
        [&](const MemoryRow& row, std::uint32_t number) { change(row, number); },
        [&](const Span& span, std::uint32_t number) { end(span, number); });
    return std::move(found_);
  }

 private:
  struct Open {
    std::uint32_t span;
    std::vector<std::uint32_t> unbound;  // lives that began in it
  };
  struct AddressHash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint8_t>& a) const noexcept {
      return (a.first ^ (std::uint64_t{a.second} << 56)) * 0x9E3779B97F4A7C15u >> 7;
    }
  };

  DeviceId device_named(const std::string& name) const {
    const auto at = std::find(trace_.devices.begin(), trace_.devices.end(), name);
    if (at == trace_.devices.end()) return {};
    return device_numbered(static_cast<std::size_t>(at - trace_.devices.begin()));
  }

  template <class Visit>
  void for_each_use(std::uint32_t first, std::uint32_t count, Visit&& visit) const {
    for (std::uint32_t a = first; a < first + count; ++a)
      for (std::uint32_t u = 0; u < nodes_.arguments[a].count; ++u) {
        const std::uint32_t row = nodes_.arguments[a].first + u;
        if (nodes_.uses[row].storage != 0) visit(nodes_.uses[row], row);
      }
  }

  void begin(const Span& span, std::uint32_t number) {
    if (span.kind == kineto::SpanKind::Optimizer) ++optimizers_;
    if (!kineto::is_call(span.kind)) return;
    threads_[span.thread].push_back({number, {}});
    const auto node = by_record_.find(span.record);
    if (span.record == kineto::kNoNumber || node == by_record_.end()) {
      ++found_.unmatched_operators;
      return;
    }
    found_.nodes[number] = node->second;
    const Node& op = nodes_.nodes[node->second];
    for_each_use(op.first_input, op.input_count, [&](const TensorUse& use, std::uint32_t row) {
      see(life_of_input(use), use, row, span.start_ns);
    });
  }

  std::uint32_t life_of_input(const TensorUse& use) {
    const auto [bound, is_new] = by_storage_.try_emplace(use.storage, kNone);
    if (is_new) bound->second = new_life({.device = devices_[use.device.value]});
    return if_alive(bound->second);
  }

  // None for a number whose storage is gone: its new one was not seen to be born.
  std::uint32_t if_alive(std::uint32_t life) const {
    return life == kNone || over_[life] ? kNone : life;
  }

  std::uint32_t new_life(const Life& life) {
    found_.lives.push_back(life);
    over_.push_back(false);
    return static_cast<std::uint32_t>(found_.lives.size() - 1);
  }

  void see(std::uint32_t number, const TensorUse& use, std::uint32_t row, std::int64_t time_ns) {
    found_.of_uses[row] = number;
    if (number == kNone) return;
    Life& life = found_.lives[number];
    life.has_tensor = true;
    life.is_used_outside_optimizers |= optimizers_ == 0;
    life.last_use_ns = time_ns;
    if (life.birth == kNone) life.bytes = std::max(life.bytes, use.reach_bytes);
  }

  void change(const MemoryRow& row, std::uint32_t number) {
    if (row.is_out_of_memory || row.bytes == 0) return;
    const std::pair address(row.address, row.device.value);
    if (row.bytes < 0) {
      const auto known = alive_.find(address);
      if (known == alive_.end()) return;
      found_.of_memory[number] = known->second;
      over_[known->second] = true;
      alive_.erase(known);
      return;
    }
    if (const auto known = alive_.find(address); known != alive_.end()) over_[known->second] = true;
    const std::uint32_t life =
        new_life({.birth = number, .device = row.device, .bytes = row.bytes});
    alive_[address] = found_.of_memory[number] = life;
    if (optimizers_ > 0) made_by_optimizer_.push_back(life);
    auto& stack = threads_[row.thread];
    if (!stack.empty() && stack.back().unbound.size() < kMostUnbound)
      stack.back().unbound.push_back(life);
  }

  void end_optimizer() {
    if (--optimizers_ > 0) return;
    for (std::uint32_t life : made_by_optimizer_)
      found_.lives[life].made = over_[life] ? Made::Scratch : Made::State;
    made_by_optimizer_.clear();
  }

  void end(const Span& span, std::uint32_t number) {
    if (span.kind == kineto::SpanKind::Optimizer) end_optimizer();
    if (!kineto::is_call(span.kind)) return;
    auto& stack = threads_[span.thread];
    const auto open = std::find_if(stack.rbegin(), stack.rend(),
                                   [&](const Open& one) { return one.span == number; });
    Open ended = std::move(*open);
    stack.erase(std::next(open).base());
    if (const std::uint32_t node = found_.nodes[number]; node != kNone)
      bind_outputs(nodes_.nodes[node], span, ended.unbound);
    if (!stack.empty() && stack.back().unbound.size() < kMostUnbound)
      stack.back().unbound.insert(stack.back().unbound.end(), ended.unbound.begin(),
                                  ended.unbound.end());
  }

  void bind_outputs(const Node& op, const Span& span, std::vector<std::uint32_t>& unbound) {
    const std::unordered_set<std::uint64_t> given = inputs_of(op);
    for_each_use(op.first_output, op.output_count, [&](const TensorUse& use, std::uint32_t row) {
      std::uint32_t& bound = by_storage_.try_emplace(use.storage, kNone).first->second;
      const bool is_alive = if_alive(bound) != kNone;
      const bool may_be_old =
          is_alive && found_.lives[bound].birth == kNone && !given.contains(use.storage);
      if (!is_alive || may_be_old) {
        const std::uint32_t life = take_fitting(use, unbound);
        if (life != kNone) bound = life;
      }
      see(if_alive(bound), use, row, span.end_ns);
    });
  }

  std::unordered_set<std::uint64_t> inputs_of(const Node& op) const {
    std::unordered_set<std::uint64_t> storages;
    for_each_use(op.first_input, op.input_count,
                 [&](const TensorUse& use, std::uint32_t) { storages.insert(use.storage); });
    return storages;
  }

  // The first of exactly its size, else the first that is large enough.
  std::uint32_t take_fitting(const TensorUse& use, std::vector<std::uint32_t>& unbound) const {
    const DeviceId device = devices_[use.device.value];
    const std::int64_t unit = granularity_of(nodes_.devices[use.device.value]);
    const std::int64_t wanted = rounded_up(use.reach_bytes, unit);
    const auto fits = [&](bool exactly) {
      return [=, this](std::uint32_t number) {
        const Life& life = found_.lives[number];
        return life.device == device && !over_[number] &&
               (exactly ? life.bytes == wanted : life.bytes > wanted);
      };
    };
    const auto last = unbound.begin() + std::min(unbound.size(), kMostLookedThrough);
    auto best = std::find_if(unbound.begin(), last, fits(true));
    if (best == last) best = std::find_if(unbound.begin(), last, fits(false));
    if (best == last) return kNone;
    const std::uint32_t life = *best;
    unbound.erase(best);
    return life;
  }

  const TraceContents& trace_;
  const ExecutionNodes& nodes_;
  BoundStorages found_;
  std::vector<DeviceId> devices_;  // of the trace, by those of the nodes
  std::vector<bool> over_;         // by life
  std::vector<std::vector<Open>> threads_;
  std::vector<std::uint32_t> made_by_optimizer_;  // in the step that is open
  int optimizers_ = 0;                            // steps that are open
  std::unordered_map<std::uint32_t, std::uint32_t> by_record_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_storage_;  // by the execution trace's number
  std::unordered_map<std::pair<std::uint64_t, std::uint8_t>, std::uint32_t, AddressHash> alive_;
};

}  // namespace

BoundStorages bind_storages(const TraceContents& trace, const ExecutionNodes& nodes) {
  return Binding(trace, nodes).run();
}

}  // namespace tidemark::join
