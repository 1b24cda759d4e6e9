// Shares of each part, by evidence.
#include "tidemark/engine/analyses/budget_error.h"

#include "tidemark/engine/base/saturating.h"

namespace tidemark {
namespace {

// What training runs reserved on an H200 was at most so many percent more or less than estimated
// (docs/accuracy.md): with calls that were measured on that GPU, and by rules alone.
constexpr std::int64_t kMeasuredCallsPercent = 15, kRulesPercent = 20;
// Contexts were 641 to 771 MiB on one GPU. On others, and of NCCL, nobody has measured any.
constexpr std::int64_t kSameGpuPercent = 17, kOtherGpuPercent = 50;

std::int64_t percent_of(const BudgetItem& item, bool is_calibrated) {
  switch (item.evidence) {
    case Evidence::Measured: return 0;
    case Evidence::Modelled: return is_calibrated ? kMeasuredCallsPercent : kRulesPercent;
    default: return is_calibrated ? kSameGpuPercent : kOtherGpuPercent;
  }
}

}  // namespace

std::int64_t budget_error(const RunFacts& run, const std::vector<BudgetItem>& budget) {
  const bool is_calibrated = !run.calibrated_on.empty() && run.calibrated_on == run.gpu.name;
  std::int64_t error = 0;
  for (const BudgetItem& item : budget)
    error = add_saturating(error, item.bytes / 100 * percent_of(item, is_calibrated));
  return error;
}

}  // namespace tidemark
