// Decoding of text, and the checks of counts and indices.
#include "python/src/values.h"

#include <pybind11/native_enum.h>

#include "tidemark/engine/base/error.h"

namespace tidemark::python {

py::str decoded(std::string_view text) {
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace");
  if (!decoded) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

py::dict by_category(const CategoryBytes& bytes) {
  py::dict found;
  for (const auto& [category, count] : sorted_categories(bytes)) found[py::cast(category)] = count;
  return found;
}

std::size_t counted(std::int64_t value, const char* name, std::int64_t least) {
  if (value < least)
    throw Error(ErrorCode::BadArgument, std::string(name) + " must be at least " +
                                            std::to_string(least) + ", not " +
                                            std::to_string(value));
  return static_cast<std::size_t>(value);
}

std::size_t indexed(std::int64_t index, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (index < -count || index >= count) throw py::index_error("index out of range");
  return static_cast<std::size_t>(index < 0 ? index + count : index);
}

}  // namespace tidemark::python
