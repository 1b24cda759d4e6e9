// Draws events one by one; what they name is drawn from small pools.
#include "tests/property/random_recording.h"

#include <array>
#include <string>

namespace tidemark::test {
namespace {

using namespace dataflow;

constexpr std::array<std::string_view, 7> kNames = {
    "aten::mul", "aten::add_",   "aten::detach",           "torch::autograd::AccumulateGrad",
    "note",      "no::operator", "Optimizer.step#SGD.step"};

class Drawing {
 public:
  explicit Drawing(Random& random) : random_(random) {
    recording_.device("cpu");
    recording_.device("cuda:0");
  }

  Recording draw(std::size_t most) {
    const std::size_t count = random_.below(most + 1);
    for (std::size_t i = 0; i < count; ++i) add_event();
    return std::move(recording_);
  }

 private:
  std::uint32_t below(std::uint64_t limit) {
    return static_cast<std::uint32_t>(random_.below(limit));
  }
  DeviceId device() { return device_numbered(random_.chance(0.9) ? 0 : 1); }

  void add_event() {
    dataflow::Event event;
    event.start_ns = time_ns_;
    if (random_.chance(0.8)) time_ns_ += below(3);
    event.end_ns = event.start_ns + below(12);
    event.thread = 1 + below(2);
    const auto kind = below(10);
    if (kind < 5) add_operator(event);
    else if (kind < 8) add_allocation(event);
    else if (kind < 9) add_call(event);
    recording_.events.push_back(event);
  }

  void add_operator(dataflow::Event& event) {
    event.kind = EventKind::Operator;
    event.name = recording_.names.intern(random_.pick(kNames));
    event.detail = static_cast<std::uint32_t>(recording_.operators.size());
    Operator op;
    op.first_input = static_cast<std::uint32_t>(recording_.inputs.size());
    op.input_count = below(4);
    op.scope = random_.chance(0.25) ? RecordScope::BackwardFunction : RecordScope::Function;
    op.sequence_number = below(5);
    op.forward_thread = op.scope == RecordScope::BackwardFunction ? 1 + below(2) : 0;
    recording_.operators.push_back(op);
    for (std::uint32_t i = 0; i < op.input_count; ++i) add_input();
  }

  void add_input() {
    Value value;
    if (random_.chance(0.7)) value = {ValueKind::Tensor, add_tensor().value, 1};
    else if (random_.chance(0.3)) value.kind = ValueKind::Float;
    else if (random_.chance(0.3)) {
      value = {ValueKind::TensorList, add_tensor().value, 2};
      add_tensor();
    }
    recording_.inputs.push_back(value);
  }

  TensorRow add_tensor() {
    TensorFacts facts;
    facts.tensor = below(20);
    facts.storage = 64 * below(7);
    facts.device = device();
    facts.item_bytes = 4;
    facts.first_size = static_cast<std::uint32_t>(recording_.sizes.size());
    facts.dimensions = 1;
    facts.strided = random_.chance(0.9);
    recording_.sizes.push_back(below(9));
    recording_.strides.push_back(1);
    recording_.tensors.push_back(facts);
    return TensorRow(static_cast<std::uint32_t>(recording_.tensors.size() - 1));
  }

  void add_allocation(dataflow::Event& event) {
    event.kind = EventKind::Allocation;
    event.end_ns = event.start_ns;
    event.detail = static_cast<std::uint32_t>(recording_.allocations.size());
    const std::int64_t bytes = 1 + below(40);
    recording_.allocations.push_back(
        {64 * (1 + below(6)), random_.chance(0.5) ? bytes : -bytes, device()});
  }

  void add_call(dataflow::Event& event) {
    event.kind = EventKind::PythonCall;
    if (random_.chance(0.5))
      event.name = recording_.names.intern("Net_" + std::to_string(below(3)));
    if (random_.chance(0.5)) return;
    event.detail = static_cast<std::uint32_t>(recording_.owners.size());
    Owner owner;
    owner.is_optimizer = random_.chance(0.3);
    owner.first_parameter = static_cast<std::uint32_t>(recording_.parameters.size());
    owner.parameter_count = 1;
    recording_.owners.push_back(owner);
    OwnedParameter owned;
    owned.parameter = add_tensor();
    if (random_.chance(0.5)) owned.gradient = add_tensor();
    owned.first_state = static_cast<std::uint32_t>(recording_.states.size());
    owned.state_count = owner.is_optimizer ? 1 : 0;
    if (owner.is_optimizer) recording_.states.push_back({StringId(), add_tensor()});
    recording_.parameters.push_back(owned);
  }

  Random& random_;
  Recording recording_;
  std::int64_t time_ns_ = 1000;
};

}  // namespace

Recording random_recording(Random& random, std::size_t most_events) {
  return Drawing(random).draw(most_events);
}

std::vector<operators::Schema> schemas_of_random(std::string_view name) {
  using operators::schema_of_letters;
  if (name == "aten::mul") return {schema_of_letters("TT"), schema_of_letters("Tn")};
  if (name == "aten::add_")
    return {schema_of_letters("!TT"), schema_of_letters("!TTn"), schema_of_letters("!T")};
  if (name == "aten::detach") return {schema_of_letters("T"), schema_of_letters("L")};
  return {};
}

}  // namespace tidemark::test
