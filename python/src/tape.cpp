// Opening and saving tapes, and what a tape says of itself.
#include "tidemark/engine/tape/tape.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "python/src/bindings.h"
#include "python/src/codec.h"
#include "python/src/values.h"
#include "tidemark/engine/base/units.h"
#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/tape/file_writer.h"
#include "tidemark/engine/tape/open.h"
#include "tidemark/engine/tape/text_reader.h"
#include "tidemark/engine/tape/text_writer.h"
#include "tidemark/readers/catalogue.h"
#include "tidemark/readers/codec.h"

namespace tidemark::python {
namespace {

using Release = py::call_guard<py::gil_scoped_release>;

Tape open(const std::filesystem::path& path,
          const std::optional<std::filesystem::path>& execution_trace, bool salvage) {
  InputOptions options;
  options.salvage = salvage;
  if (execution_trace) options.companion = execution_trace->string();
  return open_file(path.string(), options);
}

Tape read_bytes(std::string_view bytes, const std::string& name) {
  OpenOptions options;
  options.codec = find_codec();
  MemorySource source(bytes);
  return read_tape(source, name, options);
}

void save(const Tape& tape, const std::filesystem::path& path, std::optional<bool> compressed) {
  const Codec* codec = choose_codec(compressed);
  FileSink sink(path.string());
  write_tape(tape, sink, codec);
  sink.flush();
}

py::str to_text(const Tape& tape) {
  std::string text;
  {
    py::gil_scoped_release release;
    text = write_tape_text(tape);
  }
  return decoded(text);
}

py::list device_names(const Tape& tape) {
  py::list names;
  for (const Device& device : tape.tables().devices()) names.append(decoded(device.name));
  return names;
}

py::dict meta_of_tape(const Tape& tape) {
  py::dict found;
  for (const auto& [key, value] : tape.tables().meta()) found[decoded(key)] = decoded(value);
  return found;
}

std::string describe(const Tape& tape) {
  std::string text = "<Tape: " + format_count(static_cast<std::int64_t>(tape.size())) +
                     " events, " + format_count(tape.step_count()) + " steps";
  for (const Device& device : tape.tables().devices()) text += ", " + device.name;
  return text + ">";
}

}  // namespace

void bind_tape(py::module_& module, TapeClass& tape) {
  module.def("_open_file", &open, py::arg("path"), py::kw_only(),
             py::arg("execution_trace") = py::none(), py::arg("salvage") = false, Release(),
             "Opens a tape, an exported model or a trace. Error says what other files are.");
  module.def("read_text", &read_tape_text, py::arg("text"), py::arg("name") = "text", Release(),
             "Reads the text form of a tape; errors name the line and the column.");
  module.def("read_bytes", &read_bytes, py::arg("data"), py::arg("name") = "bytes",
             "Reads a tape, text or binary, from the bytes of its file.");
  module.def("verify", &verify, py::arg("tape"), Release(),
             "Every broken invariant of a tape; empty when all is well.");
  tape.def("verify", &verify, Release(), "Every broken invariant; empty when all is well.")
      .def("save", &save, py::arg("path"), py::kw_only(), py::arg("compressed") = py::none(),
           Release(), "Writes the binary form; compressed where the build can, unless told.")
      .def("to_text", &to_text, "The text form: one event a line, read back by read_text.")
      .def(
          "step_at",
          [](const Tape& self, std::int64_t event) {
            return self.step_at(indexed(event, self.size()));
          },
          py::arg("event"), "The step an event belongs to; 0 is what comes before step 1.")
      .def_property_readonly("tables", &Tape::tables)
      .def_property_readonly("devices", &device_names)
      .def_property_readonly("steps", &Tape::step_count)
      .def_property_readonly("meta", &meta_of_tape)
      .def_property_readonly("diagnostics", &Tape::diagnostics)
      .def("__repr__", [](const Tape& self) { return decoded(describe(self)); });
}

}  // namespace tidemark::python
