// Makes the timeline, as it is and added up, into Python's objects.
#include "python/profile/profile_objects.h"

namespace py = pybind11;

namespace tidemark::python {
namespace {

using dataflow::Action;
using dataflow::Entry;

// The device's number, or none where nothing happened on it.
DeviceId device_named(const HeldProfile& held, const std::string& name) {
  const auto& devices = held.dataflow->recording.devices;
  for (std::size_t d = 0; d < devices.size(); ++d)
    if (devices[d] == name) return device_numbered(d);
  return {};
}

// Plain calls of Python: a profile has hundreds of thousands of these.
void put(py::tuple& tuple, std::size_t at, PyObject* stolen) {
  if (!stolen) throw py::error_already_set();
  PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(at), stolen);
}

PyObject* borrowed(const py::list& list, std::size_t at) {
  if (at >= list.size()) throw py::index_error("fewer objects than the profile has");
  PyObject* object = PyList_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(at));
  Py_INCREF(object);
  return object;
}

}  // namespace

py::tuple timeline_of_objects(const HeldProfile& held, const py::list& keys,
                              const py::list& device_keys, const py::list& actions) {
  const auto& entries = held.dataflow->timeline;
  py::tuple timeline(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    py::tuple version(2), row(4);
    put(version, 0,
        entry.key ? borrowed(keys, entry.key.value) : borrowed(device_keys, entry.device.value));
    put(version, 1, PyLong_FromLong(entry.version));
    put(row, 0, PyLong_FromLongLong(entry.time_ns));
    put(row, 1, borrowed(actions, static_cast<std::size_t>(entry.action)));
    put(row, 2, version.release().ptr());
    put(row, 3, PyLong_FromLongLong(entry.bytes));
    put(timeline, i, row.release().ptr());
  }
  return timeline;
}

py::tuple coalesced(const HeldProfile& held, const std::string& device) {
  const auto found = dataflow::coalesce(held.dataflow->timeline, held.dataflow->labels,
                                        device_named(held, device));
  py::list times, rows;
  for (std::int64_t time : found.times_us) times.append(time);
  for (const auto& bytes : found.rows) {
    py::list row;
    row.append(0);  // PyTorch's rows begin with one, for its stacked plot
    for (std::int64_t one : bytes) row.append(one);
    rows.append(std::move(row));
  }
  return py::make_tuple(times, rows);
}

py::list raw_timeline(const HeldProfile& held, const std::string& device) {
  const DeviceId wanted = device_named(held, device);
  const auto& labels = held.dataflow->labels;
  py::list list;
  const auto add = [&](const Entry& entry, std::int32_t version, std::int64_t bytes) {
    const Category label = entry.key ? labels(entry.key, version) : Category::Unknown;
    list.append(py::make_tuple(entry.time_ns, static_cast<int>(entry.action), bytes,
                               dataflow::export_number(label)));
  };
  for (const Entry& entry : held.dataflow->timeline) {
    if (!wanted || entry.device != wanted) continue;
    if (entry.action == Action::IncrementVersion) {
      add(entry, entry.version, -entry.bytes);
      add(entry, entry.version + 1, entry.bytes);
    } else {
      add(entry, entry.version, entry.action == Action::Destroy ? -entry.bytes : entry.bytes);
    }
  }
  return list;
}

}  // namespace tidemark::python
