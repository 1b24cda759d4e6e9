// Appends an event for each owner, with tensors that no operator was given.
#include "python/profile/told_owners.h"

#include <algorithm>
#include <string>

namespace py = pybind11;

namespace tidemark::python {
namespace {

using dataflow::Recording;
using dataflow::TensorRow;

class Adding {
 public:
  explicit Adding(Recording& recording) : recording_(recording) {
    for (const dataflow::Event& event : recording.events)
      last_ns_ = std::max({last_ns_, event.start_ns, event.end_ns});
  }

  void add(const py::tuple& told) {
    dataflow::Event event;
    event.kind = dataflow::EventKind::PythonCall;
    event.start_ns = event.end_ns = last_ns_ + 1;
    event.detail = row_count(recording_.owners);
    recording_.events.push_back(event);

    const auto parameters = told[2].cast<py::list>();
    recording_.owners.push_back({name(told[0]), told[1].cast<bool>(),
                                 row_count(recording_.parameters), row_count(parameters)});
    for (const py::handle parameter : parameters)
      recording_.parameters.push_back(owned(parameter.cast<py::tuple>()));
  }

 private:
  static std::uint32_t row_count(const auto& rows) {
    return static_cast<std::uint32_t>(rows.size());
  }

  StringId name(const py::object& text) {
    return recording_.names.intern(text.cast<std::string>());
  }

  dataflow::OwnedParameter owned(const py::tuple& told) {
    dataflow::OwnedParameter owned;
    owned.name = name(told[0]);
    owned.parameter = tensor(told[1].cast<py::tuple>());
    if (!told[2].is_none()) owned.gradient = tensor(told[2].cast<py::tuple>());
    const auto states = told[3].cast<py::list>();
    owned.first_state = row_count(recording_.states);
    owned.state_count = row_count(states);
    for (const py::handle state : states) {
      const auto one = state.cast<py::tuple>();
      recording_.states.push_back({name(one[0]), tensor(one[1].cast<py::tuple>())});
    }
    return owned;
  }

  TensorRow tensor(const py::tuple& told) {
    dataflow::TensorFacts facts;
    facts.tensor = ++last_tensor_;
    facts.storage = told[0].cast<std::uint64_t>();
    facts.item_bytes = told[1].cast<std::uint32_t>();
    facts.first_size = row_count(recording_.sizes);
    for (const py::handle size : told[2]) recording_.sizes.push_back(size.cast<std::int64_t>());
    for (const py::handle stride : told[3])
      recording_.strides.push_back(stride.cast<std::int64_t>());
    if (recording_.sizes.size() != recording_.strides.size())
      throw py::value_error("a tensor has as many strides as sizes");
    facts.dimensions = row_count(recording_.sizes) - facts.first_size;
    facts.device = recording_.device(told[4].cast<std::string>());
    recording_.tensors.push_back(facts);
    return TensorRow(row_count(recording_.tensors) - 1);
  }

  Recording& recording_;
  std::int64_t last_ns_ = 0;
  std::uint64_t last_tensor_ = std::uint64_t{1} << 63;  // where no object has its address
};

}  // namespace

void add_told_owners(const py::list& owners, Recording& recording) {
  Adding adding(recording);
  for (const py::handle owner : owners) adding.add(owner.cast<py::tuple>());
}

}  // namespace tidemark::python
