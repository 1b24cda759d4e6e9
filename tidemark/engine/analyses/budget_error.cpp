// Shares of each part, by evidence.
#include "tidemark/engine/analyses/budget_error.h"

#include "tidemark/engine/base/saturating.h"

namespace tidemark {
namespace {

// What training runs reserved on an H200 was at most so many percent more or less than estimated,
// with calls that were measured there or without (docs/accuracy.md). With other kernels it is
// more, and nobody has measured how much.
constexpr std::int64_t kMeasuredCallsPercent = 15, kRulesPercent = 20;
// Contexts were 641 to 771 MiB on that GPU. Of other assumptions half may be wrong.
constexpr std::int64_t kContextPercent = 17, kAssumedPercent = 50;

std::int64_t error_percent(const BudgetItem& item, bool is_calibrated) {
  switch (item.evidence) {
    case Evidence::Measured: return 0;
    case Evidence::Modelled: return is_calibrated ? kMeasuredCallsPercent : kRulesPercent;
    default: return is_calibrated && item.name == kContextPart ? kContextPercent : kAssumedPercent;
  }
}

}  // namespace

std::int64_t budget_error(const RunFacts& run, const std::vector<BudgetItem>& budget) {
  const bool is_calibrated = !run.calibrated_on.empty() && run.calibrated_on == run.gpu.name;
  std::int64_t error = 0;
  for (const BudgetItem& item : budget)
    error = add_saturating(error, item.bytes / 100 * error_percent(item, is_calibrated));
  return error;
}

}  // namespace tidemark
