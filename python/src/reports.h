// What every answer can do in Python: print itself, show itself in a notebook, become JSON.
#pragma once

#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>

#include "python/src/values.h"
#include "python/src/words.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/text.h"

namespace tidemark::python {

// Notebooks have no terminal to ask for its width.
inline constexpr std::size_t kNotebookColumns = 100;

inline std::size_t terminal_columns() {
  const py::object size = py::module_::import("shutil").attr("get_terminal_size")();
  return size.attr("columns").cast<std::size_t>();
}

template <class Answer>
py::str answer_text(const Answer& answer, std::optional<std::int64_t> width, bool colour,
                    const std::string& units, const std::string& detail, const std::string& tape) {
  const std::size_t columns = width ? counted(*width, "width", 1) : terminal_columns();
  return decoded(
      text_report(answer, {columns, colour, units_of(units), detail_of(detail), 0, tape}));
}

template <class Answer>
py::str answer_html(const Answer& answer) {
  const py::str text = decoded(text_report(answer, {.width = kNotebookColumns}));
  const py::object escape = py::module_::import("html").attr("escape");
  const py::object escaped = escape(text, py::arg("quote") = false);
  return py::str("<pre class=\"tidemark\" style=\"line-height: 1.25; overflow-x: auto\">{}</pre>")
      .format(escaped);
}

// Ends of lines belong to print.
template <class Answer>
py::str answer_print(const Answer& answer) {
  std::string text = text_report(answer, {.width = terminal_columns()});
  while (text.ends_with('\n')) text.pop_back();
  return decoded(text);
}

template <class Answer, class... Options>
py::class_<Answer, Options...>& add_reports(py::class_<Answer, Options...>& type) {
  return type.def("__str__", &answer_print<Answer>)
      .def("_repr_html_", &answer_html<Answer>)
      .def("to_text", &answer_text<Answer>, py::kw_only(), py::arg("width") = py::none(),
           py::arg("colour") = false, py::arg("units") = "auto", py::arg("detail") = "brief",
           py::arg("tape") = "",
           "The tables that str() gives, with another width, with colour, in fixed units, or with "
           "more detail: brief, modules or full. `tape` is a file to name in what to ask next.")
      .def(
          "to_json", [](const Answer& answer) { return decoded(json_report(answer)); },
          "The same content for machines; the field schema_version says which form.")
      .def(
          "to_dict",
          [](const Answer& answer) {
            return py::module_::import("json").attr("loads")(decoded(json_report(answer)));
          },
          "What to_json holds, as dictionaries and lists.");
}

// "<PeakAnswer: cuda:0 3.71 GiB, cpu 12 B>"
template <class Rows, class Say>
std::string summary(const char* type, const Rows& rows, Say&& say) {
  constexpr std::size_t kShown = 4;
  std::string text = std::string("<") + type + ":";
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i)
    text += (i ? ", " : " ") + std::string(say(rows[i]));
  if (rows.size() > kShown) text += ", ... (" + std::to_string(rows.size()) + " in all)";
  if (rows.empty()) text += " nothing";
  return text + ">";
}

}  // namespace tidemark::python
