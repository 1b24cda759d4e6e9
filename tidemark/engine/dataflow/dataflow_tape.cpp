// Writes the timeline and the calls of modules in the order of time.
#include "tidemark/engine/dataflow/dataflow_tape.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "tidemark/engine/dataflow/event_places.h"
#include "tidemark/engine/dataflow/owned_tensors.h"
#include "tidemark/engine/tape/builder.h"

namespace tidemark::dataflow {
namespace {

// What is written at one time, in this order: outer calls begin, memory changes, calls end.
struct Moment {
  enum class What : std::uint8_t { Step, Begin, Memory, End };
  std::int64_t time_ns;
  What what;
  std::uint32_t number;  // a position, or a row of the timeline
};

class Writer {
 public:
  explicit Writer(const Dataflow& dataflow)
      : dataflow_(dataflow),
        recording_(dataflow.recording),
        places_(find_places(recording_, dataflow.tree, dataflow.flow.nodes)),
        storages_(dataflow.keys.size()),
        alive_(dataflow.keys.size()),
        owners_(dataflow.keys.size(), kNoPosition) {
    for (Position at = 0; at < dataflow.tree.size(); ++at)
      for_parameters_and_gradients(recording_, dataflow.tree, at,
                                   [&](TensorRow parameter, TensorRow) {
                                     if (const KeyId key = dataflow.keys.of(parameter))
                                       owners_[key.value] = std::min(owners_[key.value], at);
                                   });
  }

  Tape write(const std::map<std::string, std::string>& meta) {
    const std::vector<Moment> moments = find_moments();
    for (const Moment& moment : moments) {
      now_ns_ = moment.time_ns;
      builder_.set_time(now_ns_);
      switch (moment.what) {
        case Moment::What::Step: builder_.begin_step(); break;
        case Moment::What::Begin: begin(moment.number); break;
        case Moment::What::End: builder_.end_scope(scope_at(moment.number)); break;
        case Moment::What::Memory: change(dataflow_.timeline[moment.number]); break;
      }
    }
    for (const Diagnostic& d : dataflow_.diagnostics.all())
      builder_.diagnose(d.code, d.severity, d.where, d.message, d.count);
    for (const auto& [key, value] : meta) builder_.tables().set_meta(key, value);
    return builder_.finish();
  }

 private:
  const Event& event_at(Position at) const {
    return recording_.events[dataflow_.tree.events[at].value];
  }

  std::vector<Moment> find_moments() {
    std::vector<Moment> moments;
    std::int64_t first = INT64_MAX;
    for (const Event& event : recording_.events) first = std::min(first, event.start_ns);
    for (std::uint32_t i = 0; i < dataflow_.timeline.size(); ++i) {
      const std::int64_t time = dataflow_.timeline[i].time_ns;
      moments.push_back({time == kBeforeTheRun ? first : time, Moment::What::Memory, i});
    }
    for (Position at : places_.module_calls) {
      moments.push_back({event_at(at).start_ns, Moment::What::Begin, at});
      moments.push_back({event_at(at).end_ns, Moment::What::End, at});
    }
    add_steps(moments);
    std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
      return std::pair(a.time_ns, a.what) < std::pair(b.time_ns, b.what);
    });
    return moments;
  }

  bool is_named(Position at, std::string_view beginning) const {
    const Event& event = event_at(at);
    return event.kind == EventKind::Operator && recording_.names[event.name].starts_with(beginning);
  }

  void add_steps(std::vector<Moment>& moments) const {
    const std::size_t before = moments.size();
    for (Position at : dataflow_.tree.by_time)
      if (is_named(at, "ProfilerStep#"))
        moments.push_back({event_at(at).start_ns, Moment::What::Step, at});
    if (moments.size() == before) add_guessed_steps(moments);
  }

  // A forward begins a step, the optimizer's step ends it.
  void add_guessed_steps(std::vector<Moment>& moments) const {
    bool is_over = true;
    for (Position at : dataflow_.tree.by_time) {
      if (is_named(at, "Optimizer.step#")) is_over = true;
      const Event& event = event_at(at);
      const bool is_call = event.kind == EventKind::PythonCall && event.name;
      if (!is_over || !is_call || places_.phase_of[at] != Phase::Forward) continue;
      moments.push_back({event.start_ns, Moment::What::Step, at});
      is_over = false;
    }
  }

  ScopeId scope_at(Position at) {
    const std::string& path = places_.scopes[places_.scope_of[at]];
    return path.empty() ? ScopeId() : builder_.tables().scope(path);
  }

  Place place_at(Position at) {
    Place place;
    if (at == kNoPosition) return place;
    enter_phase(at);
    place.scope = scope_at(at);
    const Position op = places_.operator_of[at];
    if (op != kNoPosition) place.call = builder_.tables().call(recording_.names[event_at(op).name]);
    return place;
  }

  void enter_phase(Position at) {
    if (places_.phase_of[at] == builder_.phase()) return;
    builder_.set_phase(places_.phase_of[at]);
    builder_.set_time(now_ns_);  // what follows is no later
  }

  void begin(Position at) {
    enter_phase(at);
    builder_.begin_scope(scope_at(at));
  }

  void change(const Entry& entry) {
    if (recording_.devices[entry.device.value] == "meta") return;  // shapes without memory
    if (entry.key) change_tensor(entry);
    else change_unknown(entry);
  }

  void change_tensor(const Entry& entry) {
    const std::uint32_t key = entry.key.value;
    Place place = place_at(entry.at);
    // A parameter that was there before belongs to the module that showed it.
    if (entry.at == kNoPosition && owners_[key] != kNoPosition)
      place.scope = scope_at(owners_[key]);
    const auto label = [&](std::int32_t version) { return dataflow_.labels(entry.key, version); };
    switch (entry.action) {
      case Action::Preexisting:
      case Action::Create:
        if (alive_[key]) break;
        alive_[key] = true;
        storages_[key] =
            builder_.alloc(device(entry.device), entry.bytes, label(entry.version), place);
        break;
      case Action::IncrementVersion:
        if (alive_[key] && label(entry.version) != label(entry.version + 1))
          builder_.relabel(storages_[key], label(entry.version + 1), place);
        break;
      case Action::Destroy:
        if (alive_[key]) builder_.free(storages_[key], place);
        alive_[key] = false;
        break;
    }
  }

  void change_unknown(const Entry& entry) {
    const Place place = place_at(entry.at);
    const Allocation& a = recording_.allocations[entry.allocation];
    const std::pair address(a.pointer, a.device);
    // A birth where something lives: its death was not recorded.
    const auto known = unknown_.find(address);
    if (known != unknown_.end()) {
      builder_.free(known->second, place);
      builder_.set_time(now_ns_);
      unknown_.erase(known);
    }
    if (entry.action != Action::Destroy)
      unknown_.emplace(address,
                       builder_.alloc(device(a.device), entry.bytes, Category::Unknown, place));
  }

  DeviceId device(DeviceId of_recording) {
    return builder_.tables().device(recording_.devices[of_recording.value]);
  }

  const Dataflow& dataflow_;
  const Recording& recording_;
  EventPlaces places_;
  TapeBuilder builder_;
  std::int64_t now_ns_ = 0;
  std::vector<StorageId> storages_;  // by key
  std::vector<bool> alive_;
  std::vector<Position> owners_;  // by key: the event that shows it as a parameter
  std::map<std::pair<std::uint64_t, DeviceId>, StorageId> unknown_;  // alive, by address
};

}  // namespace

Tape tape_of_dataflow(const Dataflow& dataflow, const std::map<std::string, std::string>& meta) {
  return Writer(dataflow).write(meta);
}

}  // namespace tidemark::dataflow
