// A table of keywords, each with its small handler.
#include "python/src/place.h"

#include <pybind11/native_enum.h>
#include <pybind11/stl.h>

#include <array>
#include <string>

#include "python/src/words.h"
#include "tidemark/engine/base/error.h"

namespace tidemark::python {
namespace {

template <class T>
T taken(py::handle value, const char* must_be) {
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {
    throw py::type_error(std::string(must_be) + ", not " + py::repr(value).cast<std::string>());
  }
}

class PlaceReader {
 public:
  explicit PlaceReader(Tables& tables) : tables_(tables) {}

  Place read(const py::kwargs& words) {
    for (auto [key, value] : words)
      if (auto word = taken<std::string>(key, "a keyword must be text"); !value.is_none())
        (this->*handler_of(word))(value);
    if (op_.empty() && !signature_.empty())
      throw Error(ErrorCode::BadArgument, "a signature without an op", {}, "name the operator too");
    if (!op_.empty()) place_.call = tables_.call(op_, signature_);
    return place_;
  }

 private:
  using Handler = void (PlaceReader::*)(py::handle);
  struct Word {
    std::string_view name;
    Handler handler;
  };
  static const std::array<Word, 6> kWords;

  static Handler handler_of(std::string_view name) {
    for (const Word& word : kWords)
      if (word.name == name) return word.handler;
    throw py::type_error("unknown keyword '" + std::string(name) +
                         "': known are op, signature, source, scope, phase, stream");
  }

  void op(py::handle value) { op_ = taken<std::string>(value, "op must be text"); }
  void signature(py::handle value) {
    signature_ = taken<std::string>(value, "signature must be text");
  }
  void scope(py::handle value) {
    const auto path = taken<std::string>(value, "scope must be text");
    place_.scope = path.empty() ? ScopeId() : tables_.scope(path);
  }
  void phase(py::handle value) {
    place_.phase = phase_of(taken<PhaseWord>(value, "phase must be a Phase or its name"));
  }
  void stream(py::handle value) {
    place_.stream = tables_.stream(taken<std::int64_t>(value, "stream must be a whole number"));
  }

  // One frame, or a list of them from the outermost caller inwards.
  void source(py::handle value) {
    if (py::isinstance<py::tuple>(value)) return frame(value);
    for (py::handle each : taken<py::list>(value, kFrameForm)) frame(each);
  }
  void frame(py::handle value) {
    const auto parts = taken<py::tuple>(value, kFrameForm);
    if (parts.size() < 2 || parts.size() > 3) throw py::type_error(kFrameForm);
    const auto function = parts.size() == 3 ? taken<std::string>(parts[2], kFrameForm) : "";
    place_.stack = tables_.stack(place_.stack, taken<std::string>(parts[0], kFrameForm),
                                 taken<std::uint32_t>(parts[1], kFrameForm), function);
  }

  static constexpr const char* kFrameForm =
      "source must be (file, line) or (file, line, function), or a list of them";

  Tables& tables_;
  Place place_;
  std::string op_, signature_;
};

const std::array<PlaceReader::Word, 6> PlaceReader::kWords = {{
    {"op", &PlaceReader::op},
    {"signature", &PlaceReader::signature},
    {"source", &PlaceReader::source},
    {"scope", &PlaceReader::scope},
    {"phase", &PlaceReader::phase},
    {"stream", &PlaceReader::stream},
}};

}  // namespace

Place place_of(Tables& tables, const py::kwargs& words) {
  return words.empty() ? Place() : PlaceReader(tables).read(words);
}

}  // namespace tidemark::python
