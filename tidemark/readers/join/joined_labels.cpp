// Hands categories of keys back to the rows they were born in.
#include "tidemark/readers/join/joined_labels.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/dataflow/dataflow.h"
#include "tidemark/readers/join/joined_recording.h"

namespace tidemark::join {
namespace {

using dataflow::Dataflow;
using dataflow::Entry;
using kineto::StorageLabels;
using kineto::TraceContents;

class Labelling {
 public:
  Labelling(const BoundStorages& bound, const Dataflow& found)
      : bound_(bound), found_(found), life_of_key_(found.keys.size(), kNone) {
    // Every life has a pointer of its own.
    for (std::uint32_t key = 0; key < found.keys.size(); ++key)
      life_of_key_[key] = life_of_pointer(found.keys.all[key].pointer);
  }

  StorageLabels run() {
    labels_.births.resize(bound_.of_memory.size(), Category::Unknown);
    for (const Life& life : bound_.lives)
      if (life.birth != kNone) labels_.births[life.birth] = corrected(life, Category::Unknown);
    earlier_of_life_.resize(bound_.lives.size(), kineto::kNoNumber);
    for (const Entry& entry : found_.timeline)
      if (entry.key) add(entry, life_of_key_[entry.key.value]);
    return std::move(labels_);
  }

 private:
  // Data flow alone takes an optimizer's state for parameters, and its scratch for anything.
  static Category corrected(const Life& life, Category category) {
    if (category == Category::Gradient) return category;
    if (life.made == Made::Scratch) return Category::Temporary;
    const bool is_earlier_state =
        life.birth == kNone && category == Category::Parameter && !life.is_used_outside_optimizers;
    return life.made == Made::State || is_earlier_state ? Category::OptimizerState : category;
  }

  void add(const Entry& entry, std::uint32_t life) {
    const Life& one = bound_.lives[life];
    const Category category = corrected(one, found_.labels(entry.key, entry.version));
    switch (entry.action) {
      case dataflow::Action::Create:
        if (one.birth != kNone) labels_.births[one.birth] = category;
        break;
      case dataflow::Action::Preexisting:
        if (one.birth != kNone || !one.device || earlier_of_life_[life] != kineto::kNoNumber) break;
        earlier_of_life_[life] = static_cast<std::uint32_t>(labels_.earlier.size());
        labels_.earlier.push_back({one.device, one.bytes, category, one.last_use_ns});
        break;
      case dataflow::Action::IncrementVersion: change(entry, life, category); break;
      case dataflow::Action::Destroy: break;
    }
  }

  void change(const Entry& entry, std::uint32_t life, Category before) {
    const Category after =
        corrected(bound_.lives[life], found_.labels(entry.key, entry.version + 1));
    const std::uint32_t birth = bound_.lives[life].birth;
    const std::uint32_t earlier = earlier_of_life_[life];
    if (after == before || (birth == kNone && earlier == kineto::kNoNumber)) return;
    labels_.changes.push_back({entry.time_ns, birth, earlier, after});
  }

  const BoundStorages& bound_;
  const Dataflow& found_;
  std::vector<std::uint32_t> life_of_key_;
  std::vector<std::uint32_t> earlier_of_life_;  // a row of labels_.earlier
  StorageLabels labels_;
};

void tell(TraceContents& trace, const BoundStorages& bound, const Dataflow& found) {
  if (bound.unmatched_operators > 0)
    trace.builder.diagnose("unmatched-operators", Severity::Note, "execution trace",
                           "operators of the profiler's trace are not in the execution trace: "
                           "what only they touch is Unknown",
                           bound.unmatched_operators);
  std::int64_t without_tensor = 0;
  for (const Life& life : bound.lives) without_tensor += life.has_tensor ? 0 : 1;
  if (without_tensor > 0)
    trace.builder.diagnose("storages-without-tensor", Severity::Note, "execution trace",
                           "storages that no operator was given or returned are Unknown",
                           without_tensor);
  for (const Diagnostic& d : found.diagnostics.all())
    trace.builder.diagnose(d.code, d.severity, d.where, d.message, d.count);
}

}  // namespace

StorageLabels find_joined_labels(TraceContents& trace, const chakra::ExecutionNodes& nodes) {
  const BoundStorages bound = bind_storages(trace, nodes);
  const bool is_related = std::any_of(bound.nodes.begin(), bound.nodes.end(),
                                      [](std::uint32_t node) { return node != kNone; });
  if (!is_related)
    throw Error(ErrorCode::BadArgument,
                "the execution trace has none of the operators of the profiler's trace", {},
                "both must be recorded at once: "
                "profile(..., execution_trace_observer=ExecutionTraceObserver())");
  const auto found =
      dataflow::find_dataflow(make_recording(trace, nodes, bound), &operators::find_schemas);
  tell(trace, bound, *found);
  return Labelling(bound, *found).run();
}

}  // namespace tidemark::join
