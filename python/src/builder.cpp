// TapeBuilder: the engine's words with names instead of ids, and regions as context managers.
#include "tidemark/engine/tape/builder.h"

#include <pybind11/native_enum.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "python/src/bindings.h"
#include "python/src/codec.h"
#include "python/src/live_builder.h"
#include "python/src/place.h"
#include "python/src/values.h"
#include "python/src/words.h"
#include "tidemark/engine/base/units.h"

namespace tidemark::python {
namespace {

using BuilderClass = py::class_<LiveBuilder, std::shared_ptr<LiveBuilder>>;

// with builder.region("warm-up"): a scope of the user's own.
class Region {
 public:
  Region(std::shared_ptr<LiveBuilder> builder, std::string path)
      : builder_(std::move(builder)), path_(std::move(path)) {}

  void enter() {
    tape_ = builder_->finished();
    builder_->write([&](TapeBuilder& b) { b.begin_scope(b.tables().scope(path_)); });
  }
  // After finish() the region's tape is complete; the next one must not see its end.
  void exit(const py::args&) {
    if (tape_ != builder_->finished()) return;
    builder_->write([&](TapeBuilder& b) { b.end_scope(b.tables().scope(path_)); });
  }

 private:
  std::shared_ptr<LiveBuilder> builder_;
  std::string path_;
  std::int64_t tape_ = 0;
};

std::uint32_t alloc(LiveBuilder& self, const std::string& device, std::int64_t bytes,
                    const CategoryWord& category, const py::kwargs& words) {
  const Category label = category_of(category);
  const Place place = place_of(self.tables(), words);
  const DeviceId on = self.tables().device(device);
  return self.write([&](TapeBuilder& b) { return b.alloc(on, bytes, label, place); }).value;
}

void alloc_as(LiveBuilder& self, std::uint32_t storage, const std::string& device,
              std::int64_t bytes, const CategoryWord& category, const py::kwargs& words) {
  const Category label = category_of(category);
  const Place place = place_of(self.tables(), words);
  const DeviceId on = self.tables().device(device);
  self.write([&](TapeBuilder& b) { b.alloc_as(StorageId(storage), on, bytes, label, place); });
}

// The binding of an event that names a storage and nothing else.
template <auto Write>
void about_storage(LiveBuilder& self, std::uint32_t storage, const py::kwargs& words) {
  const Place place = place_of(self.tables(), words);
  self.write([&](TapeBuilder& b) { (b.*Write)(StorageId(storage), place); });
}

// The binding of an event that names a storage and a size.
template <auto Write>
void about_size(LiveBuilder& self, std::uint32_t storage, std::int64_t bytes,
                const py::kwargs& words) {
  const Place place = place_of(self.tables(), words);
  self.write([&](TapeBuilder& b) { (b.*Write)(StorageId(storage), bytes, place); });
}

void relabel(LiveBuilder& self, std::uint32_t storage, const CategoryWord& category,
             const py::kwargs& words) {
  const Category label = category_of(category);
  const Place place = place_of(self.tables(), words);
  self.write([&](TapeBuilder& b) { b.relabel(StorageId(storage), label, place); });
}

template <auto Write>
void about_scope(LiveBuilder& self, const std::string& scope, const py::kwargs& words) {
  const Place place = place_of(self.tables(), words);
  self.write([&](TapeBuilder& b) { (b.*Write)(b.tables().scope(scope), place); });
}

template <auto Write>
void about_call(LiveBuilder& self, const std::string& op, const std::string& signature,
                const py::kwargs& words) {
  const Place place = place_of(self.tables(), words);
  self.write([&](TapeBuilder& b) { (b.*Write)(b.tables().call(op, signature), place); });
}

template <auto Write>
void about_segment(LiveBuilder& self, const std::string& device, std::uint32_t segment,
                   std::int64_t bytes, const py::kwargs& words) {
  const Place place = place_of(self.tables(), words);
  self.write([&](TapeBuilder& b) { (b.*Write)(b.tables().device(device), segment, bytes, place); });
}

template <auto Write>
void about_pool(LiveBuilder& self, const std::string& device, std::uint32_t pool,
                const py::kwargs& words) {
  const Place place = place_of(self.tables(), words);
  self.write([&](TapeBuilder& b) { (b.*Write)(b.tables().device(device), pool, place); });
}

void bind_storage_events(BuilderClass& type) {
  type.def("alloc", &alloc, py::arg("device"), py::arg("bytes"), py::arg("category") = "Unknown",
           "A storage is born; returns its number.")
      .def("alloc_as", &alloc_as, py::arg("storage"), py::arg("device"), py::arg("bytes"),
           py::arg("category") = "Unknown", "Births a storage that new_storage numbered.")
      .def(
          "new_storage", [](LiveBuilder& self) { return self.new_storage().value; },
          "A number for a storage that will be named before it is born, or never is.")
      .def("free", &about_storage<&TapeBuilder::free>, py::arg("storage"))
      .def("resize", &about_size<&TapeBuilder::resize>, py::arg("storage"), py::arg("bytes"))
      .def("block", &about_size<&TapeBuilder::block>, py::arg("storage"), py::arg("bytes"))
      .def("relabel", &relabel, py::arg("storage"), py::arg("category"))
      .def("input", &about_storage<&TapeBuilder::input>, py::arg("storage"),
           "The storage goes into the scope.")
      .def("output", &about_storage<&TapeBuilder::output>, py::arg("storage"),
           "The storage comes out of the scope.");
}

void bind_other_events(BuilderClass& type) {
  type.def("begin_scope", &about_scope<&TapeBuilder::begin_scope>, py::arg("scope"))
      .def("end_scope", &about_scope<&TapeBuilder::end_scope>, py::arg("scope"),
           "Ends a scope; ends need not nest.")
      .def("begin_call", &about_call<&TapeBuilder::begin_call>, py::arg("op"),
           py::arg("signature") = "")
      .def("end_call", &about_call<&TapeBuilder::end_call>, py::arg("op"),
           py::arg("signature") = "")
      .def(
          "set_phase",
          [](LiveBuilder& self, const PhaseWord& phase, const py::kwargs& words) {
            const Phase next = phase_of(phase);
            const Place place = place_of(self.tables(), words);
            self.write([&](TapeBuilder& b) { b.set_phase(next, place); });
          },
          py::arg("phase"))
      .def("begin_step",
           [](LiveBuilder& self, const py::kwargs& words) {
             const Place place = place_of(self.tables(), words);
             self.write([&](TapeBuilder& b) { b.begin_step(place); });
           })
      .def(
          "mark",
          [](LiveBuilder& self, const std::string& text, const py::kwargs& words) {
            const Place place = place_of(self.tables(), words);
            self.write([&](TapeBuilder& b) { b.mark(text, place); });
          },
          py::arg("text"), "A remark in the tape.")
      .def("map_segment", &about_segment<&TapeBuilder::map_segment>, py::arg("device"),
           py::arg("segment"), py::arg("bytes"))
      .def("unmap_segment", &about_segment<&TapeBuilder::unmap_segment>, py::arg("device"),
           py::arg("segment"), py::arg("bytes"))
      .def("use_pool", &about_pool<&TapeBuilder::use_pool>, py::arg("device"), py::arg("pool"),
           "Births of the device come from this pool from here on; 0 is the one that all share.")
      .def("release_pool", &about_pool<&TapeBuilder::release_pool>, py::arg("device"),
           py::arg("pool"))
      .def("empty_cache", &about_pool<&TapeBuilder::empty_cache>, py::arg("device"),
           py::arg("pool") = 0)
      .def(
          "region",
          [](std::shared_ptr<LiveBuilder> self, std::string name) {
            return Region(std::move(self), std::move(name));
          },
          py::arg("name"), "A scope as a context manager.");
}

void bind_tape_facts(BuilderClass& type) {
  type.def("set_time", &LiveBuilder::set_time, py::arg("time_ns"),
           "The time of the next event; without it each is one nanosecond after the last.")
      .def(
          "set_meta",
          [](LiveBuilder& self, const std::string& key, const std::string& value) {
            self.tables().set_meta(key, value);
          },
          py::arg("key"), py::arg("value"))
      .def(
          "diagnose",
          [](LiveBuilder& self, std::string code, const SeverityWord& severity, std::string where,
             std::string message, std::int64_t count) {
            self.diagnose({std::move(code), severity_of(severity), count, std::move(where),
                           std::move(message)});
          },
          py::arg("code"), py::arg("severity"), py::arg("where"), py::arg("message"),
          py::arg("count") = 1, "Notes what the source of this tape could not do right.")
      .def(
          "spill_to",
          [](LiveBuilder& self, const std::filesystem::path& path, bool keep,
             std::optional<bool> compressed) {
            self.spill_to(path.string(), keep, choose_codec(compressed));
          },
          py::arg("path"), py::kw_only(), py::arg("keep") = true,
          py::arg("compressed") = py::none(),
          "Writes events to a file as they come. Without keep, finish returns only the rest.")
      .def("flush", &LiveBuilder::flush, "Writes to the file what is not yet there.")
      .def("finish", &LiveBuilder::finish, "The tape; the builder is empty afterwards.");
}

}  // namespace

void bind_builder(py::module_& module) {
  py::class_<Region>(module, "Region", "A scope that begins and ends with a with statement.")
      .def("__enter__", &Region::enter)
      .def("__exit__", &Region::exit);
  BuilderClass type(module, "TapeBuilder",
                    "Writes a tape event by event. Every event takes the keywords op, signature, "
                    "source, scope, phase and stream, which say where it happens. Not for several "
                    "threads at once.");
  type.def(py::init<>());
  bind_storage_events(type);
  bind_other_events(type);
  bind_tape_facts(type);
  type.def("__len__", [](const LiveBuilder& self) { return self.builder().size(); })
      .def_property_readonly("phase",
                             [](const LiveBuilder& self) { return self.builder().phase(); })
      .def_property_readonly(
          "innermost_scope",
          [](const LiveBuilder& self) {
            return decoded(self.builder().tables().scope_path(self.builder().innermost_scope()));
          })
      .def("__repr__", [](const LiveBuilder& self) {
        const auto events = static_cast<std::int64_t>(self.builder().size());
        return "<TapeBuilder: " + format_count(events) + " events>";
      });
}

}  // namespace tidemark::python
