// From what a thread does to the phase it is in, and from there to the category of what it makes.
#include "tidemark/libtorch/attribution/thread_work.h"

#include "tidemark/libtorch/attribution/note.h"

namespace tidemark::attribution {

Phase ThreadWork::phase(std::uint8_t flags, const Rules& rules, bool has_steps) const {
  const bool grad_mode = (flags & kGradMode) && !creates_graph;
  if (flags & kInBackward)
    return recomputing || (rules.recompute_by_grad_mode && grad_mode) ? Phase::Recompute
                                                                      : Phase::Backward;
  if (modules_open > 0) return Phase::Forward;
  if (in_optimizer && !in_closure) return Phase::Optimizer;
  return has_steps || !rules.knows_steps ? Phase::Forward : Phase::Other;
}

// What an optimizer makes is scratch until its step is over and its state can be looked at.
Category ThreadWork::category(std::uint8_t flags, const Rules& rules, bool has_steps) const {
  if (purpose && !in_optimizer) return *purpose;
  if (flags & kOfGradient) return Category::Gradient;
  switch (phase(flags, rules, has_steps)) {
    case Phase::Forward:
      return (flags & kOfNothing) && modules_open == 0 ? Category::Input : Category::Activation;
    case Phase::Recompute: return Category::Activation;
    case Phase::Other: return Category::Unknown;
    default: return Category::Temporary;
  }
}

}  // namespace tidemark::attribution
