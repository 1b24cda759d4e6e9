// The Python module tidemark._phantom: opens, asks and closes the virtual GPUs.
//
// It must be imported before torch: PyTorch asks for CUDA's hooks while it is being imported.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/headeronly/version.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/lines/python_lines.h"
#include "python/phantom/allocator_answers.h"
#include "python/phantom/asked_methods.h"
#include "python/phantom/attention_answers.h"
#include "python/phantom/collectives.h"
#include "python/phantom/module_hooks.h"
#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/engine/tape/file_writer.h"
#include "tidemark/engine/tape/text_writer.h"
#include "tidemark/libtorch/attribution/run_file.h"
#include "tidemark/libtorch/phantom/cuda/matmul_workspaces.h"
#include "tidemark/libtorch/phantom/device/autograd_threads.h"
#include "tidemark/libtorch/phantom/device/cuda_hooks.h"
#include "tidemark/libtorch/phantom/device/device_guard.h"
#include "tidemark/libtorch/phantom/device/phantom_tensor.h"
#include "tidemark/libtorch/phantom/device/pinned_memory.h"
#include "tidemark/libtorch/phantom/kernel/missing_kernel.h"
#include "tidemark/libtorch/phantom/kernel/registration.h"
#include "tidemark/libtorch/phantom/log/faults.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/log/where.h"
#include "tidemark/libtorch/phantom/values/hollow_memory.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"
#include "tidemark/libtorch/phantom/values/plausible_values.h"

namespace py = pybind11;

namespace tidemark::phantom {
namespace {

struct Saving {
  std::unique_ptr<RunFile> text;  // cannot be written as the run goes: it comes at the end
  std::string problem;
};
Saving g_saving;
python::PythonLines g_lines;

StackId find_python_source(StorageLog& log) {
  return g_lines.find(
      [&](const std::string& file, std::uint32_t line, const std::string& function) {
        const StackId source = log.source({}, file, line, function);
        remember_line(source, file, line);
        return source;
      });
}

OnValue on_value_named(const std::string& name) {
  if (name == "plausible") return OnValue::Plausible;
  if (name == "zero") return OnValue::Zero;
  if (name == "bound") return OnValue::Bound;
  if (name == "error") return OnValue::Error;
  throw py::value_error("on_value must be plausible, zero, bound or error, not " + name);
}

// An operator, its arguments as a tape has them, and what happens inside: "=" a result, "+" bytes
// that are taken, "-" which of them are given back.
using MeasuredCall =
    std::tuple<std::string, std::string, std::vector<std::pair<char, std::int64_t>>>;

Pieces pieces_of(const std::vector<std::pair<char, std::int64_t>>& told) {
  Pieces pieces;
  for (const auto& [kind, value] : told)
    pieces.add({kind == '='   ? Piece::Kind::Result
                : kind == '+' ? Piece::Kind::Take
                              : Piece::Kind::GiveBack,
                value});
  return pieces;
}

void open_run(int gpus, const std::string& gpu_name, std::int64_t memory_bytes, int major,
              int minor, int multiprocessors, const std::string& on_value, bool raise_out_of_memory,
              bool cuda_choices, bool memo, bool kernels, const std::string& save,
              std::optional<std::int64_t> host_memory, const std::string& allocator_settings,
              const std::vector<MeasuredCall>& calibration) {
  SessionOptions options;
  options.allocator = parse_allocator_settings(allocator_settings);
  options.allocator.tie_break = tie_break_of(TORCH_VERSION);
  options.gpus = gpus;
  options.gpu = {gpu_name, memory_bytes, major, minor, multiprocessors};
  options.on_value = on_value_named(on_value);
  options.on_out_of_memory = raise_out_of_memory ? OnOutOfMemory::Raise : OnOutOfMemory::GoOn;
  options.cuda_choices = cuda_choices;
  options.memo = memo;
  options.kernels = kernels;
  for (const auto& [op, signature, pieces] : calibration)
    options.calibration.add(op, signature, pieces_of(pieces));
  if (host_memory) options.host_memory_bytes = *host_memory;
  const bool is_text = save.ends_with(".txt");
  auto text = is_text ? std::make_unique<RunFile>(save, 0) : nullptr;
  options.tape = is_text ? "" : save;
  open_session(options);
  set_source_finder(&find_python_source);
  g_saving.text = std::move(text);
  g_saving.problem.clear();
}

void close_run() {
  close_session();
  set_source_finder(nullptr);
  g_lines.reset();
}

// Ends the tape, and hands it out as its file would have it.
py::bytes finish_run() {
  const Tape tape = storage_log()->finish();
  if (g_saving.text) {
    const std::string text = write_tape_text(tape);
    g_saving.text->write(std::as_bytes(std::span(text)));
  }
  Diagnostics diagnostics = tape.diagnostics();
  g_saving.problem = g_saving.text ? g_saving.text->problem() : storage_log()->file_problem();
  if (!g_saving.problem.empty())
    diagnostics.add("tape-cut", Severity::Warning, "",
                    "the tape's file was not written to its end: " + g_saving.problem);
  g_saving.text.reset();
  MemorySink sink;
  write_tape(tape, diagnostics, sink);
  return {reinterpret_cast<const char*>(sink.bytes().data()), sink.bytes().size()};
}

// A torch.UntypedStorage, by the number Python knows it by.
c10::Storage storage_at(std::uintptr_t cdata) {
  return c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(
      reinterpret_cast<c10::StorageImpl*>(cdata)));
}

std::string certainty(std::uintptr_t cdata) {
  const StorageRecord* record = record_of(storage_at(cdata));
  if (!record || !record->known) return "unknown";
  return record->known->certainty == Certainty::Known ? "known" : "assumed";
}

// A phantom's storage, or the host's that is pinned, as a run knows it; no run for any other.
std::pair<StorageLog*, StorageKey> told_storage(std::uintptr_t cdata) {
  const c10::Storage storage = storage_at(cdata);
  if (const StorageRecord* record = record_of(storage))
    return {storage_log(record->session), record->key};
  const c10::DataPtr& data = storage.unsafeGetStorageImpl()->_mutable_data_ptr_no_checks();
  const auto pinned = pinned_block(data.get());
  if (!pinned) return {nullptr, 0};
  return {storage_log(pinned->session), pinned->key};
}

void relabel(std::uintptr_t cdata, Category category, ScopeId scope) {
  const auto [log, key] = told_storage(cdata);
  if (log) log->relabel(key, category, scope);
}

void label(std::uintptr_t cdata, const std::string& category, std::int64_t scope) {
  relabel(cdata, category_named(category).value(),
          scope < 0 ? ScopeId() : ScopeId(static_cast<ScopeId::rep>(scope)));
}

// What this thread makes from here on is of this category; empty: as usual. Returns the one before.
std::string set_purpose(const std::string& category) {
  const auto before = storage_log()->set_purpose(
      category.empty() ? std::nullopt : std::optional(category_named(category).value()));
  return before ? std::string(name_of(*before)) : "";
}

py::object out_of_memory() {
  const auto& first = storage_log()->out_of_memory();
  if (!first) return py::none();
  py::dict what;
  what["device"] = "cuda:" + std::to_string(first->device);
  what["wanted_bytes"] = first->wanted;
  what["allocated_bytes"] = first->allocated;
  what["event"] = first->at.event;
  what["step"] = first->at.step;
  what["phase"] = std::string(name_of(first->at.phase));
  what["op"] = first->at.op;
  what["source"] = first->at.source;
  return what;
}

bool has_called(const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return storage_log()->has_called(views);
}

py::list diagnostics() {
  py::list all;
  const Diagnostics noted = storage_log()->diagnostics();
  for (const Diagnostic& d : noted.all()) {
    py::dict one;
    one["code"] = d.code;
    one["severity"] = std::string(name_of(d.severity));
    one["count"] = d.count;
    one["where"] = d.where;
    one["message"] = d.message;
    all.append(one);
  }
  return all;
}

void bind_diagnostics(py::module_& m) {
  m.def("diagnostics", &diagnostics);
  m.def("diagnose",
        [](const std::string& code, const std::string& where, const std::string& message) {
          storage_log()->diagnose(code, Severity::Warning, where, message);
        });
  m.def("note", [](const std::string& code, const std::string& where, const std::string& message) {
    storage_log()->diagnose(code, Severity::Note, where, message);
  });
}

void bind_matmul_workspaces(py::module_& m) {
  m.def("drop_matmul_workspaces", &drop_matmul_workspaces);
  m.def("has_used_matmul", &has_used_matmul);
  m.def("blas_workspace_bytes", &blas_workspace_bytes);
  m.def("blas_lt_workspace_bytes", &blas_lt_workspace_bytes);
}

}  // namespace
}  // namespace tidemark::phantom

PYBIND11_MODULE(_phantom, m) {
  using namespace tidemark;
  using namespace tidemark::phantom;
  register_cuda_hooks();
  register_phase_timer();
  m.doc() = "Virtual GPUs: real PyTorch with no GPU and no memory";
  m.def("open", &open_run, py::arg("gpus"), py::arg("gpu_name"), py::arg("memory_bytes"),
        py::arg("major"), py::arg("minor"), py::arg("multiprocessors"), py::kw_only(),
        py::arg("on_value") = "plausible", py::arg("raise_out_of_memory") = false,
        py::arg("cuda_choices") = true, py::arg("memo") = true, py::arg("kernels") = true,
        py::arg("save") = "", py::arg("host_memory") = py::none(),
        py::arg("allocator_settings") = "", py::arg("calibration") = py::list());
  m.def("close", &close_run);
  m.def("finish", &finish_run);
  // Why the file of the last run was not written to its end; empty if it was.
  m.def("save_problem", [] { return g_saving.problem; });
  m.def("flush", [] { storage_log()->flush(); });
  m.def("is_open", &session_is_open);
  m.def("device_count", [] { return virtual_gpus().count(); });
  m.def("current_device", [] { return static_cast<int>(current_device()); });
  m.def("set_device", [](int d) { set_current_device(static_cast<c10::DeviceIndex>(d)); });
  m.def("current_stream", [](int d) { return current_stream(static_cast<c10::DeviceIndex>(d)); });
  m.def("set_stream", [](int d, std::int64_t stream) {
    set_current_stream(static_cast<c10::DeviceIndex>(d), stream);
  });
  m.def("wait_for_autograd_threads", [] {
    const int gpus = virtual_gpus().count();
    const py::gil_scoped_release released;
    wait_for_autograd_threads(gpus);
  });
  bind_allocator_answers(m);
  m.def("births", [] { return storage_log()->births(); });
  m.def("settle_storage", [](std::uintptr_t cdata) { settle_size(storage_at(cdata)); });
  m.def("label", &label, py::arg("cdata"), py::arg("category"), py::arg("scope") = -1);
  m.def("label_input", [](std::uintptr_t cdata) {
    const auto [log, key] = told_storage(cdata);
    if (log) log->take_input(key);
  });
  m.def("scope", [](const std::string& path) { return storage_log()->module(path).value; });
  bind_module_hooks(m);
  m.def("stand_over", &stand_over);
  m.def("stand_over_library", &stand_over_library, py::arg("is_of_torch"));
  m.def("tell_fake_missing", &tell_fake_missing);
  m.def("fill_storage", [](std::uintptr_t cdata) { fill_storage(storage_at(cdata)); });
  m.def("watch_host_memory", &watch_hollow_memory);
  m.def("certainty", &certainty);
  m.def("set_in_descent", &set_in_descent);
  // The number of a phantom storage's device; -1 for a storage that is no phantom's.
  m.def("storage_device", [](std::uintptr_t cdata) {
    const StorageRecord* record = record_of(storage_at(cdata));
    return record ? static_cast<int>(record->device) : -1;
  });
  m.def("enter_optimizer", [] { storage_log()->begin_optimizer(); });
  m.def("leave_optimizer", [] { storage_log()->end_optimizer(); });
  m.def("set_in_closure", [](bool in_closure) { storage_log()->set_in_closure(in_closure); });
  m.def("set_purpose", &set_purpose);
  m.def("has_born_in_optimizer", [] { return storage_log()->has_born_in_optimizer(); });
  m.def("steps_done", [] { return storage_log()->steps_done(); });
  m.def("step", [] { return storage_log()->steps_begun(); });
  m.def("ops", [] { return run_counts().ops; });
  m.def("memo_hits", [] { return run_counts().memo_hits; });
  m.def("out_of_memory", &out_of_memory);
  bind_diagnostics(m);
  bind_asked_methods(m);
  bind_attention_answers(m);
  // The line of the program that runs now: "train.py:12".
  m.def("current_source",
        [] { return storage_log()->describe(find_python_source(*storage_log())); });
  m.def("set_meta", [](const std::string& key, const std::string& value) {
    storage_log()->set_meta(key, value);
  });
  m.def("has_called", &has_called);
  bind_matmul_workspaces(m);
  m.def("set_capturing", &set_capturing);
  m.def("watch_faults", &watch_faults);
  m.def("unwatch_faults", &unwatch_faults);
  m.def("set_hidden_folders",
        [](std::vector<std::string> folders) { g_lines.hide(std::move(folders)); });
  m.def("answer_collectives", &answer_collectives);
}
