// find_ranks: several tapes of one job.
#include "tidemark/engine/analyses/ranks.h"

#include "python/src/bindings.h"
#include "python/src/reports.h"
#include "python/src/struct_class.h"

namespace tidemark::python {
namespace {

RanksAnswer find_ranks(const std::vector<std::shared_ptr<Tape>>& tapes,
                       const std::vector<std::string>& names, std::int64_t top,
                       std::optional<std::string> device, std::optional<std::int64_t> step) {
  RanksOptions options;
  options.device = std::move(device);
  options.step = step;
  options.top = counted(top, "top");
  RanksComparison ranks(options);
  for (std::size_t i = 0; i < tapes.size(); ++i)
    ranks.add(i < names.size() ? names[i] : "tape " + std::to_string(i), *tapes[i]);
  return ranks.answer();
}

void bind_rank_rows(py::module_& module) {
  bind_struct<RankPeak>(module, "RankPeak", "The highest moment of one rank.",
                        field("name", &RankPeak::name), field("rank", &RankPeak::rank),
                        field("device", &RankPeak::device),
                        field("allocated_bytes", &RankPeak::allocated_bytes),
                        field("at", &RankPeak::at), field("categories", &RankPeak::categories))
      .def("__repr__", [](const RankPeak& rank) {
        return decoded("<RankPeak: " + std::to_string(rank.rank) + " " +
                       format_bytes(rank.allocated_bytes) + ">");
      });
  bind_struct<Spread>(module, "Spread", "One thing's bytes where least and most of it is.",
                      field("name", &Spread::name), field("least", &Spread::least),
                      field("most", &Spread::most), field("least_rank", &Spread::least_rank),
                      field("most_rank", &Spread::most_rank))
      .def("__repr__", [](const Spread& one) {
        return decoded("<Spread: " + one.name + " " + format_bytes(one.least) + " to " +
                       format_bytes(one.most) + ">");
      });
}

}  // namespace

void bind_ranks(py::module_& module, TapeClass&) {
  bind_rank_rows(module);
  auto answer = bind_struct<RanksAnswer>(
      module, "RanksAnswer", "The ranks of a job side by side.",
      field("ranks", &RanksAnswer::ranks), field("worst", &RanksAnswer::worst),
      field("categories", &RanksAnswer::categories), field("scopes", &RanksAnswer::scopes),
      field("ops", &RanksAnswer::ops), field("diagnostics", &RanksAnswer::diagnostics));
  add_reports(answer).def("__repr__", [](const RanksAnswer& all) {
    return decoded(summary("RanksAnswer", all.ranks, [](const RankPeak& rank) {
      return std::to_string(rank.rank) + " " + format_bytes(rank.allocated_bytes);
    }));
  });
  module.def("find_ranks", &find_ranks, py::arg("tapes"),
             py::arg("names") = std::vector<std::string>(), py::kw_only(), py::arg("top") = 10,
             py::arg("device") = py::none(), py::arg("step") = py::none(),
             py::call_guard<py::gil_scoped_release>(),
             "Whose peak is highest among the tapes of a job's ranks, and what differs.");
}

}  // namespace tidemark::python
