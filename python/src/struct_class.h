// Classes of plain structs: each field is named once, and becomes a property and part of a pickle.
#pragma once

#include <pybind11/native_enum.h>
#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include <map>
#include <string>
#include <vector>

#include "python/src/field_count.h"
#include "python/src/values.h"
#include "tidemark/engine/base/error.h"

namespace tidemark::python {

using Texts = std::vector<std::string>;
using TextMap = std::map<std::string, std::string>;

// How the attribute looks in Python: texts are decoded, categories are a dictionary.
template <class T, class V>
void show(py::class_<T>& type, const char* name, V T::*member) {
  type.def_readonly(name, member);
}
template <class T>
void show(py::class_<T>& type, const char* name, std::string T::*member) {
  type.def_property_readonly(name, text(member));
}
template <class T>
void show(py::class_<T>& type, const char* name, Texts T::*member) {
  type.def_property_readonly(name, texts(member));
}
template <class T>
void show(py::class_<T>& type, const char* name, TextMap T::*member) {
  type.def_property_readonly(name, text_map(member));
}
template <class T>
void show(py::class_<T>& type, const char* name, CategoryBytes T::*member) {
  type.def_property_readonly(name, categories(member));
}

// What a pickle holds: texts as bytes, since tapes may hold any.
template <class V>
py::object kept(const V& value) {
  return py::cast(value);
}
inline py::object kept(const std::string& text) { return py::bytes(text); }
inline py::object kept(const Texts& texts) {
  py::list all;
  for (const std::string& text : texts) all.append(py::bytes(text));
  return all;
}
inline py::object kept(const TextMap& texts) {
  py::dict all;
  for (const auto& [key, text] : texts) all[py::bytes(key)] = py::bytes(text);
  return all;
}

[[noreturn]] inline void refuse_pickle() {
  throw Error(ErrorCode::Unsupported, "this pickle is of another version of tidemark");
}

template <class T, class V>
struct Field {
  const char* name;
  V T::*member;

  void define(py::class_<T>& type) const { show(type, name, member); }
  py::object keep(const T& self) const { return kept(self.*member); }
  void restore(T& self, py::handle value) const { self.*member = value.cast<V>(); }
};

// An enum that Python knows by its word alone.
template <class T, class Enum>
struct WordField {
  const char* name;
  Enum T::*member;
  std::size_t count;  // of words

  void define(py::class_<T>& type) const {
    type.def_property_readonly(
        name, [member = member](const T& self) { return decoded(name_of(self.*member)); });
  }
  py::object keep(const T& self) const { return py::int_(static_cast<std::size_t>(self.*member)); }
  void restore(T& self, py::handle value) const {
    const auto number = value.cast<std::size_t>();
    if (number >= count) refuse_pickle();
    self.*member = static_cast<Enum>(number);
  }
};

template <class T, class V>
Field<T, V> field(const char* name, V T::*member) {
  return {name, member};
}
template <class T, class Enum>
WordField<T, Enum> word(const char* name, Enum T::*member, std::size_t count) {
  return {name, member, count};
}

template <class T, class... Fields>
T restored(const py::tuple& state, const Fields&... fields) {
  if (state.size() != sizeof...(Fields)) refuse_pickle();
  T self;
  std::size_t next = 0;
  try {
    (fields.restore(self, state[next++]), ...);
  } catch (const py::cast_error&) {
    refuse_pickle();
  }
  return self;
}

// The class of T: its fields as read-only properties, equal where all are, and pickled whole.
template <class T, class... Fields>
py::class_<T> bind_struct(py::module_& module, const char* name, const char* doc,
                          const Fields&... fields) {
  static_assert(sizeof...(Fields) == field_count<T>(), "a field that is not named here is lost");
  py::class_<T> type(module, name, doc);
  (fields.define(type), ...);
  type.def(py::self == py::self);
  type.def(
      py::pickle([fields...](const T& self) { return py::make_tuple(fields.keep(self)...); },
                 [fields...](const py::tuple& state) { return restored<T>(state, fields...); }));
  return type;
}

}  // namespace tidemark::python
