// find_lifetimes, Tape.lifetimes and LifetimesAccumulator.
#include "tidemark/engine/analyses/lifetimes.h"

#include "python/src/analysis.h"
#include "python/src/struct_class.h"

namespace tidemark::python {
namespace {

std::string describe(const LifetimeGroup& group) {
  return std::string(name_of(group.category)) + " " + std::string(name_of(group.span)) + " " +
         format_bytes(group.allocated_bytes);
}

LifetimesOptions lifetimes_options(std::int64_t top, std::optional<std::string> device,
                                   std::optional<std::int64_t> step) {
  LifetimesOptions options;
  options.device = std::move(device);
  options.step = step;
  options.top = counted(top, "top");
  return options;
}

void bind_lifetime_rows(py::module_& module) {
  bind_struct<Lifetime>(module, "Lifetime", "One storage from birth to death.",
                        field("storage", &Lifetime::storage), field("died", &Lifetime::died),
                        field("events", &Lifetime::events), field("time_ns", &Lifetime::time_ns),
                        field("span", &Lifetime::span))
      .def("__repr__", [](const Lifetime& life) {
        return "<Lifetime: storage " + std::to_string(life.storage.storage) + ", " +
               format_bytes(life.storage.allocated_bytes) + " for " + format_count(life.events) +
               " events>";
      });
  bind_struct<LifetimeGroup>(module, "LifetimeGroup", "Storages of one category and span.",
                             field("category", &LifetimeGroup::category),
                             field("span", &LifetimeGroup::span),
                             field("count", &LifetimeGroup::count),
                             field("allocated_bytes", &LifetimeGroup::allocated_bytes),
                             field("largest_bytes", &LifetimeGroup::largest_bytes),
                             field("mean_events", &LifetimeGroup::mean_events))
      .def("__repr__",
           [](const LifetimeGroup& group) { return "<LifetimeGroup: " + describe(group) + ">"; });
}

void bind_lifetime_answer(py::module_& module) {
  auto answer = bind_struct<LifetimesAnswer>(module, "LifetimesAnswer", "Who lives how long.",
                                             field("storages", &LifetimesAnswer::storages),
                                             field("groups", &LifetimesAnswer::groups),
                                             field("heaviest", &LifetimesAnswer::heaviest),
                                             field("diagnostics", &LifetimesAnswer::diagnostics));
  add_reports(answer).def("__repr__", [](const LifetimesAnswer& lives) {
    return "<LifetimesAnswer: " + format_count(lives.storages) + " storages>";
  });
}

}  // namespace

void bind_lifetimes(py::module_& module, TapeClass& tape) {
  bind_lifetime_rows(module);
  bind_lifetime_answer(module);
  const py::arg_v top = py::arg("top") = 10, device = py::arg("device") = py::none(),
                  step = py::arg("step") = py::none();
  bind_analysis(module, tape, {"find_lifetimes", "lifetimes"}, &find_lifetimes, &lifetimes_options,
                "Who lives how long, born and dead where.", py::kw_only(), top, device, step);
  bind_accumulator<LifetimesAccumulator>(module, "LifetimesAccumulator", &lifetimes_options,
                                         py::kw_only(), top, device, step);
}

}  // namespace tidemark::python
