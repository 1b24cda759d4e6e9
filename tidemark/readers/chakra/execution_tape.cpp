// Two walks: the first finds the lives of storages, the second writes them.
#include "tidemark/readers/chakra/execution_tape.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/readers/chakra/node_walk.h"
#include "tidemark/readers/device_order.h"

namespace tidemark::chakra {
namespace {

constexpr std::size_t kBefore = SIZE_MAX;

// Moments are begins and ends of nodes, counted from 0.
struct Life {
  std::size_t birth = kBefore, death = 0;
  std::int64_t bytes = 0;
  DeviceId device;
};

class Lives {
 public:
  explicit Lives(const ExecutionNodes& trace) : trace_(trace) {
    std::vector<std::size_t> begins;  // of the open nodes, by depth
    walk_nodes(
        trace.nodes,
        [&](const Node& node, std::size_t depth) {
          begins.resize(depth + 1);
          begins[depth] = now_;
          see(node.first_input, node.input_count, kBefore);
          ++now_;
        },
        [&](const Node& node, std::size_t depth) {
          mark_inputs(node);
          see(node.first_output, node.output_count, depth < begins.size() ? begins[depth] : now_);
          ++now_;
        });
  }

  std::vector<Life> take() { return std::move(lives_); }

 private:
  struct Current {
    std::uint32_t life = 0;
    std::uint64_t taken_by = UINT64_MAX;  // the node that has it as an argument, and ends now
  };

  void mark_inputs(const Node& node) {
    for_each_use(node.first_input, node.input_count, [&](const TensorUse& use) {
      if (const auto found = current_.find(use.storage); found != current_.end())
        found->second.taken_by = node.id;
    });
    ending_ = node.id;
  }

  template <class Visit>
  void for_each_use(std::uint32_t first, std::uint32_t count, Visit&& visit) const {
    for (std::uint32_t a = first; a < first + count; ++a)
      for (std::uint32_t u = 0; u < trace_.arguments[a].count; ++u)
        if (const TensorUse& use = trace_.uses[trace_.arguments[a].first + u]; use.storage != 0)
          visit(use);
  }

  // `since` is the begin of the node that returns them; kBefore for arguments.
  void see(std::uint32_t first, std::uint32_t count, std::size_t since) {
    for_each_use(first, count, [&](const TensorUse& use) {
      const auto [found, is_new] = current_.try_emplace(use.storage);
      Current& current = found->second;
      const auto is_from_outside = [&] {  // not an argument, and not born inside of the node
        const Life& life = lives_[current.life];
        return current.taken_by != ending_ && (life.birth == kBefore || life.birth < since);
      };
      // A number that is returned without having been given is of a new storage.
      if (is_new || (since != kBefore && is_from_outside())) {
        current.life = static_cast<std::uint32_t>(lives_.size());
        lives_.push_back({.birth = since, .device = use.device});
      }
      Life& life = lives_[current.life];
      life.death = now_;
      life.bytes = std::max(life.bytes, use.reach_bytes);
    });
  }

  const ExecutionNodes& trace_;
  std::vector<Life> lives_;
  std::unordered_map<std::uint64_t, Current> current_;  // by the trace's number
  std::uint64_t ending_ = 0;
  std::size_t now_ = 0;
};

class Writer {
 public:
  Writer(const ExecutionNodes& trace, std::vector<Life> lives)
      : trace_(trace), lives_(std::move(lives)), storages_(lives_.size()) {
    devices_ = add_devices(builder_.tables(), trace.devices);
    births_ = sorted(&Life::birth);
    deaths_ = sorted(&Life::death);
  }

  Tape write(const Diagnostics& found) {
    // What was there before has the highest number of all.
    for (auto one = births_.rbegin(); one != births_.rend() && is_before(*one); ++one) bear(*one);
    walk_nodes(
        trace_.nodes,
        [&](const Node& node, std::size_t) {
          begin(node);
          while (next_birth_ < births_.size() && lives_[births_[next_birth_]].birth == now_)
            bear(births_[next_birth_++]);
          pass();
        },
        [&](const Node& node, std::size_t) {
          pass();
          end(node);
        });
    for (const Diagnostic& d : found.all())
      builder_.diagnose(d.code, d.severity, d.where, d.message, d.count);
    builder_.diagnose("first-and-last-uses", Severity::Note, "execution trace",
                      "an execution trace has no frees and no times: storages live from their "
                      "first to their last use; give it to a profiler's trace by --with");
    return builder_.finish();
  }

 private:
  std::vector<std::uint32_t> sorted(std::size_t Life::*moment) const {
    std::vector<std::uint32_t> order(lives_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return lives_[a].*moment < lives_[b].*moment;
    });
    return order;
  }

  bool is_before(std::uint32_t life) const { return lives_[life].birth == kBefore; }

  void bear(std::uint32_t life) {
    storages_[life] = builder_.alloc(devices_[lives_[life].device.value], lives_[life].bytes,
                                     Category::Unknown, place_);
  }

  // The moment is over: what was used last in it dies.
  void pass() {
    for (; next_death_ < deaths_.size() && lives_[deaths_[next_death_]].death == now_;
         ++next_death_)
      builder_.free(storages_[deaths_[next_death_]], place_);
    ++now_;
  }

  bool is_operator(const Node& node) const {
    const std::string_view name = trace_.names[node.name];
    return name.find("::") != std::string_view::npos && !name.starts_with("autograd::engine::");
  }
  bool is_named(const Node& node, std::string_view beginning) const {
    return trace_.names[node.name].starts_with(beginning);
  }

  void set_phase(Phase phase) {
    if (builder_.phase() != phase) builder_.set_phase(phase);
  }

  void begin(const Node& node) {
    if (node.scope == kBackwardScope) ++backward_;
    if (is_named(node, "ProfilerStep#")) builder_.begin_step();
    if (is_named(node, "Optimizer.step#")) set_phase(Phase::Optimizer);
    else if (backward_ > 0) set_phase(Phase::Backward);
    else if (node.sequence >= 0 && builder_.phase() != Phase::Optimizer) set_phase(Phase::Forward);
    if (outermost_ || !is_operator(node)) return;
    outermost_ = &node;
    place_.call = builder_.tables().call(trace_.names[node.name]);
    builder_.begin_call(place_.call, place_);
  }

  void end(const Node& node) {
    if (node.scope == kBackwardScope) --backward_;
    if (is_named(node, "Optimizer.step#")) set_phase(Phase::Other);
    if (outermost_ != &node) return;
    builder_.end_call(place_.call, place_);
    place_ = {};
    outermost_ = nullptr;
  }

  const ExecutionNodes& trace_;
  std::vector<Life> lives_;
  std::vector<StorageId> storages_;
  std::vector<DeviceId> devices_;
  std::vector<std::uint32_t> births_, deaths_;
  std::size_t next_birth_ = 0, next_death_ = 0, now_ = 0;
  TapeBuilder builder_;
  Place place_;
  const Node* outermost_ = nullptr;
  int backward_ = 0;  // open nodes of the backward pass
};

}  // namespace

Tape tape_of_nodes(const ExecutionNodes& nodes, const Diagnostics& found) {
  if (nodes.uses.empty())
    throw Error(ErrorCode::BadFormat, "the execution trace has no tensors", {},
                "was the run that it followed too short?");
  return Writer(nodes, Lives(nodes).take()).write(found);
}

}  // namespace tidemark::chakra
