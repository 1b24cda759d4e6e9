// Copies numbers of a row of events; owners are read where they first appear in time.
#include "tidemark/libtorch/bridges/profiler/event_reader.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

namespace tidemark::profiler {
namespace {

using namespace torch::profiler::impl;
using dataflow::Recording;
using dataflow::RecordScope;
using dataflow::TensorRow;
using dataflow::Value;
using dataflow::ValueKind;

RecordScope scope_of(at::RecordScope scope) {
  switch (scope) {
    case at::RecordScope::FUNCTION: return RecordScope::Function;
    case at::RecordScope::BACKWARD_FUNCTION: return RecordScope::BackwardFunction;
    case at::RecordScope::USER_SCOPE: return RecordScope::User;
    default: return RecordScope::Other;
  }
}

ValueKind kind_of(const c10::IValue& value) {
  if (value.isNone()) return ValueKind::Nothing;
  if (value.isBool()) return ValueKind::Bool;
  if (value.isInt()) return ValueKind::Int;
  if (value.isDouble()) return ValueKind::Float;
  if (value.isComplexDouble()) return ValueKind::Complex;
  return ValueKind::Other;
}

template <class Strong>
std::uint64_t number_of(const std::optional<Strong>& id) {
  return id ? id->value_of() : dataflow::kUnknown;
}

std::uint32_t row_count(const auto& rows) { return static_cast<std::uint32_t>(rows.size()); }

// What an operator was given: a list of its own, or of a pair since torch 2.15.
const std::vector<op_input_t>& inputs_of(const auto& op) {
  if constexpr (requires { op.inputs_.shapes; }) return op.inputs_.shapes;
  else return op.inputs_;
}

class Reader {
 public:
  explicit Reader(const ModulePaths& paths) : paths_(paths) {}

  ReadEvents read(const TorchEvents& roots) {
    recording_.has_tree = true;
    recording_.identified = true;
    const std::vector<PlacedEvent> rows = rows_of(roots);
    recording_.events.reserve(rows.size());
    read_.events.reserve(rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      fetch_ahead(rows, row);
      add(rows[row]);
    }
    read_owners();
    read_.roots = roots;
    return std::move(read_);
  }

  Recording read(const TorchOperator& op) {
    dataflow::Event event;
    add_operator(op, event);
    return std::move(recording_);
  }

 private:
  void add(const PlacedEvent& placed) {
    const TorchEvent& torch_event = *placed.event;
    dataflow::Event event;
    event.start_ns = torch_event.start_time_ns_;
    event.end_ns = torch_event.endTimeNS();
    event.thread = torch_event.start_tid_;
    event.parent = placed.parent;
    const auto& fields = torch_event.extra_fields_;
    if (const auto* op = std::get_if<ExtraFields<EventType::TorchOp>>(&fields))
      add_operator(*op, event);
    else if (const auto* a = std::get_if<ExtraFields<EventType::Allocation>>(&fields))
      add_allocation(*a, event);
    else if (const auto* call = std::get_if<ExtraFields<EventType::PyCall>>(&fields))
      add_call(*call, event);
    recording_.events.push_back(event);
    read_.events.push_back(&torch_event);
  }

  void add_operator(const ExtraFields<EventType::TorchOp>& op, dataflow::Event& event) {
    event.kind = dataflow::EventKind::Operator;
    event.detail = row_count(recording_.operators);
    event.name = recording_.names.intern(std::string_view(op.name_).substr(0, kMaxNameBytes));
    dataflow::Operator row;
    row.first_input = row_count(recording_.inputs);
    row.input_count = row_count(inputs_of(op));
    row.sequence_number = op.sequence_number_;
    row.forward_thread = op.forward_tid_;
    row.scope = scope_of(op.scope_);
    recording_.operators.push_back(row);
    for (const op_input_t& input : inputs_of(op)) recording_.inputs.push_back(value_of(input));
  }

  Value value_of(const op_input_t& input) {
    if (const auto* tensor = std::get_if<TensorMetadata>(&input))
      return {ValueKind::Tensor, tensor_row(*tensor).value, 1};
    if (const auto* list = std::get_if<std::vector<TensorMetadata>>(&input)) {
      const Value value{ValueKind::TensorList, row_count(recording_.tensors), row_count(*list)};
      for (const TensorMetadata& tensor : *list) tensor_row(tensor);
      return value;
    }
    if (const auto* scalar = std::get_if<c10::IValue>(&input)) return {kind_of(*scalar)};
    return {};
  }

  void add_allocation(const ExtraFields<EventType::Allocation>& a, dataflow::Event& event) {
    event.kind = dataflow::EventKind::Allocation;
    event.detail = row_count(recording_.allocations);
    recording_.allocations.push_back({address_of(a.ptr_), a.alloc_size_, device(a.device()),
                                      number_of(a.id_), number_of(a.allocation_id_)});
  }

  void add_call(const ExtraFields<EventType::PyCall>& call, dataflow::Event& event) {
    event.kind = dataflow::EventKind::PythonCall;
    if (call.module_) name_call(*call.module_, event);
    if (call.module_ || call.optimizer_) owners_.emplace_back(row_count(recording_.events), &call);
  }

  // By its path where somebody knows it, else by class and number.
  void name_call(const NNModuleInfo& module, dataflow::Event& event) {
    const auto known = paths_.find(address_of(module.self_.value_of()));
    event.is_whole_path = known != paths_.end();
    const std::string name = event.is_whole_path ? known->second
                                                 : std::string(module.cls_name_.str()) + "_" +
                                                       std::to_string(module.id_);
    if (!name.empty())
      event.name = recording_.names.intern(std::string_view(name).substr(0, kMaxNameBytes));
  }

  // Only the first event of an owner has ids of its tensors.
  void read_owners() {
    std::stable_sort(owners_.begin(), owners_.end(), [&](const auto& a, const auto& b) {
      return recording_.events[a.first].start_ns < recording_.events[b.first].start_ns;
    });
    std::unordered_set<const void*> modules, optimizers;
    for (const auto& [row, call] : owners_) {
      if (call->module_ && modules.insert(call->module_->self_.value_of()).second)
        read_owner(*call->module_, row, false);
      if (call->optimizer_ && optimizers.insert(call->optimizer_->self_.value_of()).second)
        read_owner(*call->optimizer_, row, true);
    }
  }

  void read_owner(const auto& info, std::uint32_t event, bool is_optimizer) {
    recording_.events[event].detail = row_count(recording_.owners);
    dataflow::Owner owner;
    owner.name = recording_.names.intern(info.cls_name_.str());
    owner.is_optimizer = is_optimizer;
    owner.first_parameter = row_count(recording_.parameters);
    owner.parameter_count = row_count(info.parameters_);
    recording_.owners.push_back(owner);
    for (const auto& parameter : info.parameters_) {
      dataflow::OwnedParameter owned;
      owned.parameter = tensor_row(parameter.metadata_);
      if (parameter.grad_metadata_) owned.gradient = tensor_row(*parameter.grad_metadata_);
      if constexpr (requires { parameter.name_; })
        owned.name = recording_.names.intern(parameter.name_);
      if constexpr (requires { parameter.state_; }) read_states(parameter.state_, owned);
      recording_.parameters.push_back(owned);
    }
  }

  void read_states(const auto& states, dataflow::OwnedParameter& owned) {
    owned.first_state = row_count(recording_.states);
    owned.state_count = row_count(states);
    for (const auto& [name, tensor] : states)
      recording_.states.push_back({recording_.names.intern(name), tensor_row(tensor)});
  }

  TensorRow tensor_row(const TensorMetadata& t) {
    dataflow::TensorFacts facts;
    facts.tensor = address_of(t.impl().value_of());
    facts.storage = address_of(t.data_.value_of());
    facts.first_size = row_count(recording_.sizes);
    // Torch gives as many strides as sizes to what is strided, and none to the rest.
    facts.dimensions = static_cast<std::uint32_t>(std::min(t.sizes_.size(), t.strides_.size()));
    recording_.sizes.insert(recording_.sizes.end(), t.sizes_.begin(),
                            t.sizes_.begin() + facts.dimensions);
    recording_.strides.insert(recording_.strides.end(), t.strides_.begin(),
                              t.strides_.begin() + facts.dimensions);
    facts.item_bytes = t.dtype_ == c10::ScalarType::Undefined
                           ? 0
                           : static_cast<std::uint32_t>(c10::elementSize(t.dtype_));
    facts.device = device(t.device_);
    facts.strided = t.layout_ == c10::Layout::Strided;
    facts.tensor_id = number_of(t.id_);
    facts.allocation_id = number_of(t.allocation_id_);
    recording_.tensors.push_back(facts);
    return TensorRow(row_count(recording_.tensors) - 1);
  }

  DeviceId device(c10::Device device) {
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (devices_[i] == device) return device_numbered(i);
    devices_.push_back(device);
    return recording_.device(device.str());
  }

  const ModulePaths& paths_;
  ReadEvents read_;
  Recording& recording_ = read_.recording;
  std::vector<c10::Device> devices_;  // by DeviceId
  std::vector<std::pair<std::uint32_t, const ExtraFields<EventType::PyCall>*>> owners_;
};

}  // namespace

ReadEvents read_events(const TorchEvents& roots, const ModulePaths& paths) {
  return Reader(paths).read(roots);
}
Recording read_operator(const TorchOperator& op) { return Reader({}).read(op); }

}  // namespace tidemark::profiler
