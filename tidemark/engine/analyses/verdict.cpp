// Adds the budget up and compares it with the GPU's memory.
#include "tidemark/engine/analyses/verdict.h"

#include <algorithm>

#include "tidemark/engine/analyses/allocator_peaks.h"
#include "tidemark/engine/analyses/budget_error.h"
#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/analyses/run_facts.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/base/units.h"

namespace tidemark {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// Measured on an H200 with torch 2.11: after 35 training runs. They stand for every GPU until each
// has numbers of its own, and are called assumed for that.
constexpr std::int64_t kMatmulWorkspaceBytes = 65 * kMiB;

// CUDA's context and the libraries that were loaded; cuBLAS is one of the larger ones.
std::int64_t context_bytes(const RunFacts& run) { return (run.used_matmul ? 771 : 643) * kMiB; }

// A communicator has buffers of three protocols in each channel: 4 MiB (Simple), 4.7 MiB (LL128)
// and half a MiB (LL), by NCCL's defaults; of channels there are taken to be 16.
constexpr std::int64_t kNcclGroupBytes = std::int64_t{16} * (4096 + 4800 + 512) * 1024;

// The GPU whose tensors rise highest; none where no GPU was touched.
const DevicePeak* deciding_device(const PeakAnswer& peak) {
  const DevicePeak* highest = nullptr;
  for (const DevicePeak& device : peak.devices)
    if (device.device.starts_with("cuda") &&
        (!highest || device.allocated_bytes > highest->allocated_bytes))
      highest = &device;
  return highest;
}

// Where the numbers of calls come from: "an H200" of "NVIDIA H200", "a B200".
std::string with_article(std::string_view gpu) {
  constexpr std::string_view kMaker = "NVIDIA ", kSaidWithAVowel = "AEFHILMNORSX";
  if (gpu.starts_with(kMaker)) gpu.remove_prefix(kMaker.size());
  const bool vowel = !gpu.empty() && kSaidWithAVowel.find(gpu[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(gpu);
}

// What libraries held at the peak is on the tape where the run knew it.
BudgetItem workspaces_of(const RunFacts& run, std::int64_t held) {
  const char* const kName = "library workspaces";
  if (held > 0 && run.kind == "record")
    return {kName, held, Evidence::Measured, "what cuBLAS and cuDNN held at the peak"};
  if (held > 0)
    return {kName, held, Evidence::Modelled,
            run.calibrated_on.empty()
                ? "inside operators, by an H200's rules"
                : "inside operators, as on " + with_article(run.calibrated_on)};
  return {kName, run.used_matmul ? kMatmulWorkspaceBytes : 0, Evidence::Assumed,
          "cuBLAS and cuBLASLt on an H200"};
}

std::vector<BudgetItem> budget_of(const RunFacts& run, const DevicePeak& peak,
                                  const TorchCounts& counts) {
  const bool is_measured = run.kind == "record";
  const std::int64_t held = peak.categories[static_cast<std::size_t>(Category::Workspace)];
  // Blocks that are larger than what was asked for.
  const std::int64_t rounding = is_measured ? peak.allocated_bytes - peak.requested_bytes : 0;
  std::vector<BudgetItem> items = {{"tensors", peak.allocated_bytes - held - rounding,
                                    is_measured ? Evidence::Measured : Evidence::Modelled,
                                    is_measured        ? "what was asked for at the peak"
                                    : run.kind.empty() ? "the peak on the tape"
                                                       : "the peak of this run"}};
  if (rounding > 0)
    items.push_back(
        {"allocator's rounding", rounding, Evidence::Measured, "blocks beyond what was asked for"});
  if (BudgetItem workspaces = workspaces_of(run, held); workspaces.bytes > 0)
    items.push_back(std::move(workspaces));
  items.push_back(
      {kContextPart, context_bytes(run), Evidence::Assumed, "the most of 35 runs on an H200"});
  if (run.nccl_groups > 0)
    items.push_back({"NCCL buffers", multiply_saturating(run.nccl_groups, kNcclGroupBytes),
                     Evidence::Assumed, "16 channels for each group of ranks"});
  items.push_back({"allocator's slack",
                   std::max<std::int64_t>(counts.reserved_bytes - peak.allocated_bytes, 0),
                   counts.evidence, "reserved beyond the tensors"});
  return items;
}

// PyTorch's own counters are the measure of what was heard.
TorchCountsByDevice counted_by_torch(const Tape& tape, const PeakAnswer& peak,
                                     Diagnostics& diagnostics) {
  TorchCountsByDevice counts;
  for (const DevicePeak& device : peak.devices) {
    const auto counted = counted_on(tape.tables(), device.device);
    if (!counted) continue;
    counts[device.device] = {counted->allocated, counted->reserved, Evidence::Measured};
    if (counted->allocated != device.allocated_bytes)
      diagnostics.add("blocks-unheard", Severity::Warning, device.device,
                      "PyTorch counted " + format_bytes(counted->allocated) +
                          " at its highest, and the tape has " +
                          format_bytes(device.allocated_bytes) +
                          ": births or deaths were not heard");
  }
  return counts;
}

std::string why_nobody_can_tell(const RunFacts& run, const DevicePeak* device) {
  switch (run.end) {
    case RunEnd::Failed: return run.failure.empty() ? "the script failed" : run.failure;
    case RunEnd::Interrupted: return "the run was interrupted";
    // A tape that no run of ours has written is taken as it is.
    case RunEnd::Unknown:
      if (!run.kind.empty()) return "the run ended before it could say how";
      [[fallthrough]];
    default: return device ? "" : "no tensor was put on a GPU";
  }
}

bool is_too_much(const VerdictAnswer& answer, RunEnd end) {
  return end == RunEnd::OutOfMemory || answer.tensor_bytes > answer.gpu.memory_bytes;
}

Verdict weigh(const VerdictAnswer& answer, RunEnd end) {
  if (is_too_much(answer, end))
    return answer.is_uncompiled ? Verdict::CannotTell : Verdict::DoesNotFit;
  if (!answer.reason.empty()) return Verdict::CannotTell;
  return answer.budget_bytes > answer.gpu.memory_bytes ? Verdict::Tight : Verdict::Fits;
}

}  // namespace

std::int64_t bytes_beside_allocator(const RunFacts& run) {
  // An estimate has them on its tape, and so in the allocator.
  const bool is_apart = run.used_matmul && run.kind != "estimate";
  return context_bytes(run) + (is_apart ? kMatmulWorkspaceBytes : 0);
}

TorchCountsByDevice find_torch_counts(const Tape& tape, const RunFacts& run, const PeakAnswer& peak,
                                      Diagnostics& diagnostics) {
  if (run.gpu.memory_bytes <= 0) return {};
  TorchCountsByDevice counts = counted_by_torch(tape, peak, diagnostics);
  const bool all_counted = std::all_of(
      peak.devices.begin(), peak.devices.end(),
      [&](const auto& d) { return !d.device.starts_with("cuda") || counts.contains(d.device); });
  if (all_counted) return counts;
  const AllocatorOptions options = allocator_of(run, settings_of(run, diagnostics));
  const auto found = feed(tape, AllocatorPeaks(tape.tables(), options));
  for (const auto& one : found.devices)
    counts.try_emplace(
        device_name(tape.tables(), one.device),
        TorchCounts{one.peak.allocated_bytes, one.peak.reserved_peak_bytes, Evidence::Modelled});
  return counts;
}

std::optional<VerdictAnswer> judge(const RunFacts& run, const PeakAnswer& peak,
                                   const TorchCountsByDevice& counts) {
  if (run.gpu.memory_bytes <= 0) return std::nullopt;
  VerdictAnswer answer;
  answer.gpu = run.gpu;
  const DevicePeak* device = deciding_device(peak);
  if (device) {
    answer.device = device->device;
    answer.tensor_bytes = device->allocated_bytes;
    const auto found = counts.find(device->device);
    const TorchCounts counted = found == counts.end() ? TorchCounts{} : found->second;
    answer.max_allocated_bytes = counted.allocated_bytes;
    answer.max_reserved_bytes = counted.reserved_bytes;
    answer.budget = budget_of(run, *device, counted);
    for (const BudgetItem& item : answer.budget)
      answer.budget_bytes = add_saturating(answer.budget_bytes, item.bytes);
    answer.budget_error_bytes = budget_error(run, answer.budget);
  }
  answer.is_uncompiled = run.is_uncompiled;
  answer.is_partial = run.end == RunEnd::Steps;
  answer.rank = run.rank;
  answer.world_size = run.world_size;
  answer.ranks_alike = run.ranks_alike;
  answer.reason = why_nobody_can_tell(run, device);
  if (answer.reason.empty() && is_too_much(answer, run.end))
    answer.reason = "it does not fit uncompiled, and what torch.compile saves is not known";
  answer.verdict = weigh(answer, run.end);
  if (answer.verdict != Verdict::CannotTell) answer.reason.clear();
  return answer;
}

VerdictAnswer find_verdict(const Tape& tape, const VerdictOptions& options) {
  RunFacts run = find_run_facts(tape);
  if (options.gpu) run.gpu = *options.gpu;
  const PeakAnswer peak = find_peak(tape);
  Diagnostics notes = peak.diagnostics;
  std::optional<VerdictAnswer> answer = judge(run, peak, find_torch_counts(tape, run, peak, notes));
  if (!answer)
    throw Error(ErrorCode::NotFound, "the tape does not say which GPU its run was for", {},
                "name one, with its memory");
  answer->diagnostics = std::move(notes);
  return *std::move(answer);
}

}  // namespace tidemark
