// Small values on their way between the engine and Python.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/engine/base/category.h"

namespace tidemark::python {

namespace py = pybind11;

// A name of a tape as Python text. Tapes may hold any bytes: what is not UTF-8 becomes U+FFFD.
py::str decoded(std::string_view text);

// The categories that have bytes, most first.
py::dict by_category(const CategoryBytes& bytes);

// A count that a caller gave. Throws Error when it is below `least`.
std::size_t counted(std::int64_t value, const char* name, std::int64_t least = 0);

// A Python index, negative from the end, into `size` things. Throws IndexError past the ends.
std::size_t indexed(std::int64_t index, std::size_t size);

// The getter of a text attribute.
template <class T>
auto text(std::string T::*member) {
  return [member](const T& self) { return decoded(self.*member); };
}

// The getter of an attribute with several texts.
template <class T>
auto texts(std::vector<std::string> T::*member) {
  return [member](const T& self) {
    py::list all;
    for (const std::string& one : self.*member) all.append(decoded(one));
    return all;
  };
}

// The getter of an attribute with texts by key.
template <class T>
auto text_map(std::map<std::string, std::string> T::*member) {
  return [member](const T& self) {
    py::dict all;
    for (const auto& [key, one] : self.*member) all[decoded(key)] = decoded(one);
    return all;
  };
}

// The getter of an attribute with bytes by category.
template <class T>
auto categories(CategoryBytes T::*member) {
  return [member](const T& self) { return by_category(self.*member); };
}

}  // namespace tidemark::python
