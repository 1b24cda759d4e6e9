// find_verdict, Tape.verdict, and what a tape says of its run.
#include "tidemark/engine/analyses/verdict.h"

#include "python/src/analysis.h"

namespace tidemark::python {
namespace {

VerdictOptions verdict_options(std::optional<GpuFacts> gpu) { return {std::move(gpu)}; }

void bind_run(py::module_& module) {
  py::class_<GpuFacts>(module, "GpuFacts", "A GPU, as far as a verdict needs it.")
      .def(py::init([](std::string name, std::int64_t memory_bytes, std::string capability) {
             return GpuFacts{std::move(name), memory_bytes, std::move(capability)};
           }),
           py::arg("name"), py::arg("memory_bytes"), py::arg("capability") = "")
      .def_property_readonly("name", text(&GpuFacts::name))
      .def_readonly("memory_bytes", &GpuFacts::memory_bytes)
      .def_property_readonly("capability", text(&GpuFacts::capability));
  py::class_<OutOfMemory>(module, "OutOfMemory", "The first request that the GPU could not meet.")
      .def_property_readonly("device", text(&OutOfMemory::device))
      .def_readonly("wanted_bytes", &OutOfMemory::wanted_bytes)
      .def_readonly("allocated_bytes", &OutOfMemory::allocated_bytes)
      .def_readonly("at", &OutOfMemory::at);
  py::class_<RunFacts>(module, "RunFacts", "What a tape says of the run it was written by.")
      .def_property_readonly("kind", text(&RunFacts::kind))
      .def_property_readonly("ended", [](const RunFacts& run) { return decoded(name_of(run.end)); })
      .def_property_readonly("failure", text(&RunFacts::failure))
      .def_readonly("steps", &RunFacts::steps)
      .def_readonly("ops", &RunFacts::ops)
      .def_readonly("wall_seconds", &RunFacts::wall_seconds)
      .def_property_readonly("torch_version", text(&RunFacts::torch_version))
      .def_readonly("rank", &RunFacts::rank)
      .def_readonly("world_size", &RunFacts::world_size)
      .def_readonly("gpu", &RunFacts::gpu)
      .def_readonly("out_of_memory", &RunFacts::out_of_memory);
}

}  // namespace

void bind_verdict(py::module_& module, TapeClass& tape) {
  bind_run(module);
  py::class_<BudgetItem>(module, "BudgetItem", "One part of what nvidia-smi will show.")
      .def_property_readonly("name", text(&BudgetItem::name))
      .def_readonly("bytes", &BudgetItem::bytes)
      .def_property_readonly("evidence",
                             [](const BudgetItem& item) { return decoded(name_of(item.evidence)); })
      .def_property_readonly("reason", text(&BudgetItem::reason));
  py::class_<VerdictAnswer> answer(module, "VerdictAnswer", "Whether a run fits a GPU, and why.");
  add_reports(answer)
      .def_property_readonly("verdict",
                             [](const VerdictAnswer& v) { return decoded(name_of(v.verdict)); })
      .def_property_readonly("fits", &VerdictAnswer::fits)
      .def_property_readonly("reason", text(&VerdictAnswer::reason))
      .def_readonly("gpu", &VerdictAnswer::gpu)
      .def_property_readonly("device", text(&VerdictAnswer::device))
      .def_readonly("tensor_bytes", &VerdictAnswer::tensor_bytes)
      .def_readonly("budget_bytes", &VerdictAnswer::budget_bytes)
      .def_readonly("budget", &VerdictAnswer::budget)
      .def_readonly("diagnostics", &VerdictAnswer::diagnostics)
      .def("__repr__", [](const VerdictAnswer& v) {
        return decoded("<VerdictAnswer: " + std::string(name_of(v.verdict)) + ", " +
                       format_bytes(v.budget_bytes) + " of " + format_bytes(v.gpu.memory_bytes) +
                       ">");
      });
  py::class_<VerdictsAnswer> several(module, "VerdictsAnswer", "One program on several GPUs.");
  add_reports(several)
      .def(py::init([](std::vector<VerdictAnswer> gpus) {
             return VerdictsAnswer{.gpus = std::move(gpus)};
           }),
           py::arg("gpus"))
      .def_readonly("gpus", &VerdictsAnswer::gpus)
      .def_readonly("diagnostics", &VerdictsAnswer::diagnostics);
  bind_analysis(module, tape, {"find_verdict", "verdict"}, &find_verdict, &verdict_options,
                "Whether the run fits its GPU, or another one.", py::kw_only(),
                py::arg("gpu") = py::none());
}

}  // namespace tidemark::python
