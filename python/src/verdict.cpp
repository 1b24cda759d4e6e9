// find_verdict, Tape.verdict, and what a tape says of its run.
#include "tidemark/engine/analyses/verdict.h"

#include "python/src/analysis.h"
#include "python/src/struct_class.h"

namespace tidemark::python {
namespace {

VerdictOptions verdict_options(std::optional<GpuFacts> gpu) { return {std::move(gpu)}; }

void bind_run(py::module_& module) {
  bind_struct<GpuFacts>(
      module, "GpuFacts", "A GPU, as far as a verdict needs it.", field("name", &GpuFacts::name),
      field("memory_bytes", &GpuFacts::memory_bytes), field("capability", &GpuFacts::capability))
      .def(py::init([](std::string name, std::int64_t memory_bytes, std::string capability) {
             return GpuFacts{std::move(name), memory_bytes, std::move(capability)};
           }),
           py::arg("name"), py::arg("memory_bytes"), py::arg("capability") = "");
  bind_struct<OutOfMemory>(
      module, "OutOfMemory", "The first request that the GPU could not meet.",
      field("device", &OutOfMemory::device), field("wanted_bytes", &OutOfMemory::wanted_bytes),
      field("allocated_bytes", &OutOfMemory::allocated_bytes), field("at", &OutOfMemory::at));
  bind_struct<RunFacts>(
      module, "RunFacts", "What a tape says of the run it was written by.",
      field("kind", &RunFacts::kind), word("ended", &RunFacts::end, kRunEndCount),
      field("failure", &RunFacts::failure), field("steps", &RunFacts::steps),
      field("ops", &RunFacts::ops), field("wall_seconds", &RunFacts::wall_seconds),
      field("torch_version", &RunFacts::torch_version),
      field("allocator_settings", &RunFacts::allocator_settings), field("rank", &RunFacts::rank),
      field("world_size", &RunFacts::world_size), field("ranks_alike", &RunFacts::ranks_alike),
      field("gpu", &RunFacts::gpu), field("calibrated_on", &RunFacts::calibrated_on),
      field("nccl_groups", &RunFacts::nccl_groups), field("used_matmul", &RunFacts::used_matmul),
      field("is_uncompiled", &RunFacts::is_uncompiled), field("optimizers", &RunFacts::optimizers),
      field("further_seconds", &RunFacts::further_seconds),
      field("later_failure", &RunFacts::later_failure),
      field("out_of_memory", &RunFacts::out_of_memory));
}

}  // namespace

void bind_verdict(py::module_& module, TapeClass& tape) {
  bind_run(module);
  bind_struct<BudgetItem>(module, "BudgetItem", "One part of what nvidia-smi will show.",
                          field("name", &BudgetItem::name), field("bytes", &BudgetItem::bytes),
                          word("evidence", &BudgetItem::evidence, kEvidenceCount),
                          field("reason", &BudgetItem::reason));
  auto answer = bind_struct<VerdictAnswer>(
      module, "VerdictAnswer", "Whether a run fits a GPU, and why.",
      word("verdict", &VerdictAnswer::verdict, kVerdictCount),
      field("reason", &VerdictAnswer::reason), field("gpu", &VerdictAnswer::gpu),
      field("device", &VerdictAnswer::device), field("tensor_bytes", &VerdictAnswer::tensor_bytes),
      field("max_allocated_bytes", &VerdictAnswer::max_allocated_bytes),
      field("max_reserved_bytes", &VerdictAnswer::max_reserved_bytes),
      field("budget_bytes", &VerdictAnswer::budget_bytes),
      field("budget_error_bytes", &VerdictAnswer::budget_error_bytes),
      field("budget", &VerdictAnswer::budget),
      field("is_uncompiled", &VerdictAnswer::is_uncompiled),
      field("is_partial", &VerdictAnswer::is_partial), field("rank", &VerdictAnswer::rank),
      field("world_size", &VerdictAnswer::world_size),
      field("ranks_alike", &VerdictAnswer::ranks_alike),
      field("diagnostics", &VerdictAnswer::diagnostics));
  add_reports(answer)
      .def_property_readonly("fits", &VerdictAnswer::fits)
      .def("__repr__", [](const VerdictAnswer& v) {
        return decoded("<VerdictAnswer: " + std::string(name_of(v.verdict)) + ", " +
                       format_bytes(v.budget_bytes) + " of " + format_bytes(v.gpu.memory_bytes) +
                       ">");
      });
  auto several = bind_struct<VerdictsAnswer>(
      module, "VerdictsAnswer", "One program on several GPUs, as several ranks or in several jobs.",
      field("verdicts", &VerdictsAnswer::verdicts),
      field("diagnostics", &VerdictsAnswer::diagnostics));
  add_reports(several)
      .def(py::init([](std::vector<VerdictAnswer> verdicts) {
             return VerdictsAnswer{.verdicts = std::move(verdicts)};
           }),
           py::arg("verdicts"))
      .def("__repr__", [](const VerdictsAnswer& answer) {
        return decoded(summary("VerdictsAnswer", answer.verdicts, [](const VerdictAnswer& one) {
          return one.gpu.name + " " + std::string(name_of(one.verdict));
        }));
      });
  bind_analysis(module, tape, {"find_verdict", "verdict"}, &find_verdict, &verdict_options,
                "Whether the run fits its GPU, or another one.", py::kw_only(),
                py::arg("gpu") = py::none());
}

}  // namespace tidemark::python
