// A tape's events: whole columns as numpy arrays without copying, or one row at a time.
#include "tidemark/engine/tape/columns.h"

#include <pybind11/native_enum.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "python/src/bindings.h"
#include "python/src/values.h"
#include "tidemark/engine/base/units.h"

namespace tidemark::python {
namespace {

// What Python calls EventColumns: the columns, and the tape that owns them.
struct ColumnsView {
  std::shared_ptr<Tape> tape;
};

ColumnsView columns_of(std::shared_ptr<Tape> tape) { return {std::move(tape)}; }

// What Python calls Event: one row, its names looked up when asked for.
struct EventView {
  std::shared_ptr<Tape> tape;
  std::size_t index;
  Event row;

  const Tables& tables() const { return tape->tables(); }
};

EventView event_at(std::shared_ptr<Tape> tape, std::int64_t index) {
  const std::size_t i = indexed(index, tape->size());
  const Event row = (*tape)[i];
  return {std::move(tape), i, row};
}

// The array's base is the tape, which therefore outlives it.
template <class T>
py::array view_of(const std::shared_ptr<Tape>& tape, std::span<const T> values) {
  py::array_t<T> array(static_cast<py::ssize_t>(values.size()), values.data(), py::cast(tape));
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

py::array column_named(const ColumnsView& self, std::string_view wanted) {
  py::array found;
  self.tape->events().for_each_column([&]<class T>(const char* name, std::span<const T> values) {
    if (name == wanted) found = view_of(self.tape, values);
  });
  return found;
}

py::dict column_dict(const ColumnsView& self) {
  py::dict columns;
  self.tape->events().for_each_column([&]<class T>(const char* name, std::span<const T> values) {
    columns[name] = view_of(self.tape, values);
  });
  return columns;
}

// Stops at the end by itself; shares the tape, so that it may be dropped meanwhile.
struct EventIterator {
  std::shared_ptr<Tape> tape;
  std::size_t next = 0;

  EventView advance() {
    if (next >= tape->size()) throw py::stop_iteration();
    return event_at(tape, static_cast<std::int64_t>(next++));
  }
};

std::string describe(const EventView& e) {
  std::string text = "<Event " + std::to_string(e.index) + ": " + std::string(name_of(e.row.kind));
  if (is_about_storage(e.row.kind))
    text += " storage " + std::to_string(e.row.subject) + ", " + format_bytes(e.row.bytes) + " " +
            std::string(name_of(e.row.category));
  if (e.row.scope) text += " in " + std::string(e.tables().scope_path(e.row.scope));
  return text + ">";
}

std::optional<std::uint32_t> subject_if(const EventView& e, bool is_subject) {
  return is_subject ? std::optional(e.row.subject) : std::nullopt;
}

py::str signature(const EventView& e) {
  return decoded(e.row.call ? e.tables().strings[e.tables().calls()[e.row.call.value].signature]
                            : std::string_view());
}

std::optional<std::int64_t> stream(const EventView& e) {
  return e.row.stream ? std::optional(e.tables().streams()[e.row.stream.value]) : std::nullopt;
}

py::str device(const EventView& e) {
  return decoded(e.row.device ? e.tables().devices()[e.row.device.value].name : std::string());
}

py::str remark(const EventView& e) {
  return decoded(e.row.kind == Kind::Mark ? e.tables().strings[StringId(e.row.subject)]
                                          : std::string_view());
}

void bind_event(py::module_& module) {
  py::class_<EventView>(module, "Event", "One row of a tape, with names for its numbers.")
      .def_readonly("index", &EventView::index)
      .def_property_readonly("kind", [](const EventView& e) { return e.row.kind; })
      .def_property_readonly("time_ns", [](const EventView& e) { return e.row.time_ns; })
      .def_property_readonly("bytes", [](const EventView& e) { return e.row.bytes; })
      .def_property_readonly("category", [](const EventView& e) { return e.row.category; })
      .def_property_readonly("phase", [](const EventView& e) { return e.row.phase; })
      .def_property_readonly("step", [](const EventView& e) { return e.tape->step_at(e.index); })
      .def_property_readonly("device", &device)
      .def_property_readonly("stream", &stream)
      .def_property_readonly(
          "storage", [](const EventView& e) { return subject_if(e, is_about_storage(e.row.kind)); })
      .def_property_readonly(
          "segment", [](const EventView& e) { return subject_if(e, is_about_segment(e.row.kind)); })
      .def_property_readonly(
          "pool", [](const EventView& e) { return subject_if(e, is_about_pool(e.row.kind)); })
      .def_property_readonly("text", &remark)
      .def_property_readonly(
          "scope", [](const EventView& e) { return decoded(e.tables().scope_path(e.row.scope)); })
      .def_property_readonly(
          "op", [](const EventView& e) { return decoded(e.tables().op_name(e.row.call)); })
      .def_property_readonly("signature", &signature)
      .def_property_readonly(
          "source", [](const EventView& e) { return decoded(e.tables().source(e.row.stack)); })
      .def("__repr__", [](const EventView& e) { return decoded(describe(e)); });
}

void bind_event_columns(py::module_& module) {
  py::class_<ColumnsView> type(module, "EventColumns",
                               "The columns of a tape as read-only numpy arrays, not copied.");
  type.def("__len__", [](const ColumnsView& self) { return self.tape->size(); })
      .def(
          "__getitem__",
          [](const ColumnsView& self, std::int64_t i) { return event_at(self.tape, i); },
          py::arg("index"))
      .def("__iter__", [](const ColumnsView& self) { return EventIterator{self.tape}; })
      .def_property_readonly("columns", &column_dict, "Every column by its name.")
      .def("__repr__", [](const ColumnsView& self) {
        const auto events = static_cast<std::int64_t>(self.tape->size());
        return "<EventColumns: " + format_count(events) + " events>";
      });
  // Each column is an attribute too; an empty tape knows all their names.
  const EventColumns empty;
  empty.for_each_column([&]<class T>(const char* name, std::span<const T>) {
    type.def_property_readonly(
        name, [name](const ColumnsView& self) { return column_named(self, name); });
  });
}

}  // namespace

void bind_columns(py::module_& module, TapeClass& tape) {
  bind_event(module);
  py::class_<EventIterator>(module, "EventIterator", "Walks the events of a tape.")
      .def("__iter__", [](EventIterator& self) -> EventIterator& { return self; })
      .def("__next__", &EventIterator::advance);
  bind_event_columns(module);
  tape.def("__len__", &Tape::size)
      .def("__getitem__", &event_at, py::arg("index"))
      .def("__iter__", [](std::shared_ptr<Tape> self) { return EventIterator{std::move(self)}; })
      .def_property_readonly("events", &columns_of, "The events, column by column.")
      .def_property_readonly("columns", &columns_of, "Short for events.");
}

}  // namespace tidemark::python
