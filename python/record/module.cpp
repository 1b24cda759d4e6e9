// The Python module tidemark._recorder: trackers of a live process. Import it after torch.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include <memory>
#include <string>

#include "python/lines/python_lines.h"
#include "python/record/hook_tables.h"
#include "python/record/hooks.h"
#include "python/record/resizes.h"
#include "python/record/tensors.h"
#include "tidemark/libtorch/recorder/allocators.h"
#include "tidemark/libtorch/recorder/cuda_trace.h"
#include "tidemark/libtorch/recorder/gradients.h"
#include "tidemark/libtorch/recorder/recorder.h"
#include "tidemark/libtorch/recorder/tracker.h"

namespace py = pybind11;

namespace tidemark::recorder {
namespace {

using attribution::Moment;

c10::StorageImpl& storage_at(std::uintptr_t cdata) {
  return *reinterpret_cast<c10::StorageImpl*>(cdata);
}

Category category_of_name(const std::string& name) {
  const auto category = category_named(name);
  if (!category) throw py::value_error("no such category: " + name);
  return *category;
}

// [(device, [bytes by category..., total]), ...] of the devices that have something.
py::list rows_to_python(const Rows& rows, const attribution::Scheme& scheme) {
  py::list all;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const attribution::Row& row = rows[number];
    if (row.total == 0) continue;
    py::list bytes;
    for (std::size_t slot = 0; slot < scheme.categories().size(); ++slot)
      bytes.append(row.bytes[slot]);
    bytes.append(row.total);
    all.append(
        py::make_tuple(Recorder::instance().device_name(static_cast<std::uint8_t>(number)), bytes));
  }
  return all;
}

Moment moment_named(const attribution::Scheme& scheme, const std::string& name) {
  for (const attribution::MomentName& state : scheme.states())
    if (state.name == name) return state.moment;
  throw py::value_error("no such moment: " + name);
}

std::string_view name_of(const attribution::Scheme& scheme, Moment moment) {
  const auto states = scheme.states();
  return std::find_if(states.begin(), states.end(),
                      [&](const attribution::MomentName& one) { return one.moment == moment; })
      ->name;
}

// The categories of a scheme: [(its name for it, ours), ...] in the order of rows.
py::list categories_of(const attribution::Scheme& scheme) {
  py::list all;
  for (const attribution::CategoryName& one : scheme.categories())
    all.append(py::make_tuple(one.name, tidemark::name_of(one.category)));
  return all;
}

// [(state, [rows of each call]), ...] in the order the states were first seen.
py::list stats_to_python(Tracker& tracker, ModuleNumber module) {
  const attribution::ModuleStats stats = tracker.stats(module);
  py::list all;
  for (const Moment state : stats.order) {
    py::list calls;
    for (const Rows& rows : stats.snapshots[static_cast<std::size_t>(state)])
      calls.append(rows_to_python(rows, tracker.scheme()));
    all.append(py::make_tuple(name_of(tracker.scheme(), state), calls));
  }
  return all;
}

bool label(Tracker& tracker, py::handle value, const std::string& category,
           const std::optional<std::string>& owner) {
  return tracker.label(tensors_in(value.ptr()), category_of_name(category), owner);
}

// Its name; None for a storage that does not count.
py::object category_of(Tracker& tracker, std::uintptr_t cdata) {
  const auto category = tracker.category_of(storage_at(cdata));
  if (!category) return py::none();
  return py::str(std::string(tidemark::name_of(*category)));
}

// Whether nobody may ask for the interpreter's lock any more: a thread that does is ended by it.
bool python_is_ending() {
#if PY_VERSION_HEX >= 0x030d0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

// A Python object that C++ holds: given back under the interpreter's lock, and left alone at its
// end.
std::shared_ptr<py::object> hold(py::object object) {
  return {new py::object(std::move(object)), [](py::object* held) {
            if (python_is_ending()) return;
            py::gil_scoped_acquire acquire;
            delete held;
          }};
}

void call_python(void* callable, std::uint32_t, const std::vector<at::Tensor>& gradients) {
  py::gil_scoped_acquire acquire;
  py::list all;
  for (const at::Tensor& one : gradients)
    all.append(one.defined() ? py::reinterpret_steal<py::object>(THPVariable_Wrap(one))
                             : py::none());
  const auto* held = static_cast<py::object*>(callable);
  if (PyObject* result = PyObject_CallFunctionObjArgs(held->ptr(), all.ptr(), nullptr)) {
    Py_DECREF(result);
    return;
  }
  python_error error;  // goes to the autograd engine, as that of any hook
  error.persist();
  throw error;
}

GradientAction python_action(py::function callable, bool wants_gradients) {
  const auto held = hold(std::move(callable));
  return {&call_python, held, 0, held, wants_gradients};
}

RemoveHook hook_leaf(const at::Tensor& leaf, std::function<void(const at::Tensor&)> hook) {
  py::gil_scoped_acquire acquire;
  const auto tensor = py::reinterpret_steal<py::object>(THPVariable_Wrap(leaf));
  py::object handle =
      tensor.attr("register_hook")(py::cpp_function([hook = std::move(hook)](py::handle gradient) {
        hook(THPVariable_Check(gradient.ptr()) ? THPVariable_Unpack(gradient.ptr()) : at::Tensor());
      }));
  return [held = hold(std::move(handle))] {
    py::gil_scoped_acquire acquire;
    held->attr("remove")();
  };
}

// As Python holds it: None, or something to hand on.
py::object graph_to_python(Graph graph) {
  if (!graph) return py::none();
  return py::capsule(new Graph(std::move(graph)),
                     [](void* held) { delete static_cast<Graph*>(held); });
}

py::object await_in_python(py::handle values, bool all, py::function action, bool wants_gradients,
                           py::object of_inputs) {
  Graph graph = of_inputs.is_none() ? nullptr : *py::capsule(of_inputs).get_pointer<Graph>();
  return graph_to_python(await_gradients(
      tensors_in(values.ptr(), Wrappers::OpenAndKeep), all ? Await::All : Await::First,
      python_action(std::move(action), wants_gradients), std::move(graph)));
}

py::object out_of_memory(Tracker& tracker) {
  const auto found = tracker.last_out_of_memory();
  if (!found) return py::none();
  py::list largest;
  for (const attribution::LiveStorage& one : found->largest)
    largest.append(py::make_tuple(one.bytes, one.device, one.category, one.scope));
  py::dict what;
  what["wanted_bytes"] = found->wanted;
  what["device"] = found->device;
  what["rows"] = rows_to_python(found->rows, tracker.scheme());
  what["largest"] = largest;
  what["open_modules"] = found->open_modules;
  return what;
}

py::object unsaved(Tracker& tracker) {
  const auto found = tracker.unsaved();
  if (!found) return py::none();
  py::dict what;
  what["problem"] = found->problem;
  what["events_in_file"] = found->events_in_file;
  what["bytes_in_file"] = found->bytes_in_file;
  what["rest"] = py::bytes(reinterpret_cast<const char*>(found->rest.data()), found->rest.size());
  what["has_dropped"] = found->has_dropped;
  return what;
}

python::PythonLines g_lines;

StackId find_line() {
  return g_lines.find([](const std::string& file, std::uint32_t line, const std::string& function) {
    return Origins::instance().line(file, line, function);
  });
}

// By the name that Python knows it by; empty for none.
std::string name_of(std::optional<Category> category) {
  return category ? std::string(tidemark::name_of(*category)) : "";
}

std::string set_purpose(Tracker& tracker, const std::string& category) {
  return name_of(tracker.set_purpose(category.empty() ? std::nullopt
                                                      : std::optional(category_of_name(category))));
}

const attribution::Scheme& scheme_named(const std::string& name) {
  if (name == "MemTracker") return attribution::kMemTracker;
  if (name == "FSDPMemTracker") return attribution::kFsdpMemTracker;
  throw py::value_error("PyTorch has no such tracker: " + name);
}

// `like`: the tracker of PyTorch's whose rules and names it has; empty for ours.
std::shared_ptr<Tracker> make_tracker(const std::string& tape, bool operators, bool source,
                                      const std::string& like) {
  const bool as_pytorch = !like.empty();
  TrackerOptions options;
  options.scheme = as_pytorch ? &scheme_named(like) : &attribution::kTracking;
  options.tape = tape;
  options.origins = source;
  options.rules.recompute_by_grad_mode = !as_pytorch;
  options.rules.count_outside_operators = !as_pytorch;
  options.rules.counts_blocks = !as_pytorch;
  // What an operator makes is named when it ends.
  options.rules.count_at_birth = !operators && !source;
  return std::make_shared<Tracker>(options);
}

void bind_tracker(py::module_& m) {
  py::class_<Tracker, std::shared_ptr<Tracker>>(m, "Tracker")
      .def(py::init(&make_tracker), py::kw_only(), py::arg("tape") = "",
           py::arg("operators") = true, py::arg("source") = false, py::arg("like") = "")
      .def("start", &Tracker::start, py::arg("outputs") = false)
      .def("stop", &Tracker::stop)
      .def_property_readonly("is_running", &Tracker::is_running)
      .def_property_readonly("is_orphan", &Tracker::is_orphan)
      .def("add_module", &Tracker::add_module)
      .def("set_name", &Tracker::set_name)
      .def("set_meta", &Tracker::set_meta)
      .def("give_up",
           [](Tracker& tracker, const std::string& why) { tracker.give_up(why.c_str()); })
      .def_property_readonly("why_given_up", &Tracker::why_given_up)
      .def("diagnose", &Tracker::diagnose)
      .def("finish", &Tracker::finish)
      .def("close_tape", &Tracker::close_tape)
      .def_property_readonly("unsaved", &unsaved)
      .def_property_readonly("events", &Tracker::events)
      .def_property_readonly("out_of_memory", &out_of_memory)
      .def("adopt_cuda_memory", &Tracker::adopt_cuda_memory)
      .def("capture_out_of_memory", &Tracker::capture_out_of_memory)
      .def("abandon_forward", &Tracker::abandon_forward)
      .def("begin_optimizer", &Tracker::begin_optimizer)
      .def("end_optimizer", &Tracker::end_optimizer)
      .def_property_readonly("in_optimizer", &Tracker::in_optimizer)
      .def("has_born_in_optimizer", &Tracker::has_born_in_optimizer)
      .def("set_in_closure", &Tracker::set_in_closure)
      .def("set_purpose", &set_purpose)
      .def("tell_moment",
           [](Tracker& tracker, ModuleNumber module, const std::string& moment) {
             tracker.tell_moment(module, moment_named(tracker.scheme(), moment));
           })
      .def_property_readonly("steps_done", &Tracker::steps_done)
      .def("label", &label, py::arg("tensors"), py::arg("category"),
           py::arg("owner") = std::nullopt)
      .def(
          "follow_gradient",
          [](Tracker& tracker, py::handle leaf, bool comes_last, const std::string& category) {
            tracker.follow_gradient(THPVariable_Unpack(leaf.ptr()), comes_last,
                                    category_of_name(category));
          },
          py::arg("leaf"), py::arg("comes_last"), py::arg("category") = "Gradient")
      .def("set_owner", &Tracker::set_owner)
      .def("known_bytes",
           [](Tracker& tracker, py::handle value) {
             return tracker.known_bytes(tensors_in(value.ptr()));
           })
      .def("forget", &Tracker::forget)
      .def("category_of", &category_of)
      .def_property_readonly("categories",
                             [](const Tracker& tracker) { return categories_of(tracker.scheme()); })
      .def("current",
           [](Tracker& tracker) { return rows_to_python(tracker.current(), tracker.scheme()); })
      .def("peak",
           [](Tracker& tracker) { return rows_to_python(tracker.peak(), tracker.scheme()); })
      .def("stats", &stats_to_python)
      .def("local_peak",
           [](Tracker& tracker, ModuleNumber module) {
             return rows_to_python(tracker.local_peak(module), tracker.scheme());
           })
      .def("has_stats", &Tracker::has_stats)
      .def("last_call",
           [](Tracker& tracker, ModuleNumber module) {
             const CallBytes last = tracker.last_call(module);
             return std::pair(last.input_bytes, last.output_bytes);
           })
      .def("is_active", &Tracker::is_active)
      .def("clear_modules", &Tracker::clear_modules)
      .def_property_readonly("storage_count", &Tracker::storage_count);
}

}  // namespace
}  // namespace tidemark::recorder

PYBIND11_MODULE(_recorder, m) {
  using namespace tidemark::recorder;
  m.doc() = "Follows the storages of a live PyTorch process";
  set_leaf_hooker(&hook_leaf);
  bind_tracker(m);
  bind_hooks(m);
  m.def("set_opener", &set_opener);
  m.def("set_compiling", &set_compiling);
  m.def("set_hidden_folders",
        [](std::vector<std::string> folders) { g_lines.hide(std::move(folders)); });
  set_line_finder(&find_line);
  m.def("await_gradients", &await_in_python, py::arg("tensors"), py::kw_only(), py::arg("all"),
        py::arg("action"), py::arg("wants_gradients") = false, py::arg("of_inputs") = py::none());
  m.def("at_end_of_backward", [](py::function done, py::function abandoned) {
    const auto run = [](GradientAction action) {
      return [action = std::move(action)] { action({}); };
    };
    at_end_of_backward(run(python_action(std::move(done), false)),
                       run(python_action(std::move(abandoned), false)));
  });
  m.def("current_backward", &current_backward);
  m.def("storage_key", [](std::uintptr_t cdata) { return key_of(storage_at(cdata)); });
  m.def("note_made", [](std::uintptr_t cdata) { note_made(storage_at(cdata)); });
  m.def("attach_cuda_trace", &attach_cuda_trace);
  m.def("restart_cuda_high_marks", &restart_cuda_high_marks);
  m.def("cuda_high_marks", [] {
    py::dict marks;
    for (const CudaHighMark& one : cuda_high_marks())
      marks[py::str(one.device)] = py::make_tuple(one.allocated_bytes, one.reserved_bytes);
    return marks;
  });
  bind_hook_tables(m);
  bind_resizes(m);
  m.def("dropped", [] { return Recorder::instance().dropped(); });
}
