// Whether a run fits a GPU, and the budget that says so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/engine/answers/run.h"
#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

enum class Verdict : std::uint8_t {
  Fits,        // the whole budget fits
  Tight,       // the tensors fit, the whole budget does not
  DoesNotFit,  // the tensors alone are more than the GPU has, or it ran out
  CannotTell,  // the run failed, was interrupted, never touched a GPU, or is too large uncompiled
};
inline constexpr std::size_t kVerdictCount = 4;
std::string_view name_of(Verdict verdict);

// How sure a number is.
enum class Evidence : std::uint8_t { Measured, Modelled, Assumed };
inline constexpr std::size_t kEvidenceCount = 3;
std::string_view name_of(Evidence evidence);

// One part of what nvidia-smi will show.
struct BudgetItem {
  std::string name;
  std::int64_t bytes = 0;
  Evidence evidence = Evidence::Assumed;
  std::string reason;  // where the number comes from, in a few words
  bool operator==(const BudgetItem&) const = default;
};

struct VerdictAnswer {
  Verdict verdict = Verdict::CannotTell;
  std::string reason;  // of "cannot tell": what stands in the way; else empty
  GpuFacts gpu;
  std::string device;             // the one that decides; empty where none was touched
  std::int64_t tensor_bytes = 0;  // its peak
  // What torch.cuda's counters of the peak will say, by the model of its allocator.
  std::int64_t max_allocated_bytes = 0, max_reserved_bytes = 0;
  std::int64_t budget_bytes = 0;          // the sum of the items
  std::int64_t budget_error_bytes = 0;    // it may be off by so much, either way
  std::vector<BudgetItem> budget;         // empty where no device was touched
  bool is_uncompiled = false;             // torch.compile was left out, and may lower the peak
  bool is_partial = false;                // the run was ended before the script's own end
  std::int64_t rank = 0, world_size = 1;  // of the job that the run was a part of
  std::string ranks_alike;                // those that hold the same: "0-1016"; empty if unknown
  Diagnostics diagnostics;

  // Tight counts as fitting; no value where nobody can tell.
  std::optional<bool> fits() const {
    if (verdict == Verdict::CannotTell) return std::nullopt;
    return verdict != Verdict::DoesNotFit;
  }
  bool operator==(const VerdictAnswer&) const = default;
};

// One program on several GPUs, or as several ranks, or in jobs of several sizes.
struct VerdictsAnswer {
  std::vector<VerdictAnswer> verdicts;
  Diagnostics diagnostics;
  bool operator==(const VerdictsAnswer&) const = default;
};

}  // namespace tidemark
