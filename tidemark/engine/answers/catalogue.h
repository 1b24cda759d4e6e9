// The list of answers that have reports, a line each; the headers of reports are made of it.
#pragma once

// X(Type) once for each struct of a header in this folder.
#define TIDEMARK_ANSWERS(X) \
  X(Overview)               \
  X(PeakAnswer)             \
  X(ScopesAnswer)           \
  X(TimelineAnswer)         \
  X(VerdictAnswer)          \
  X(VerdictsAnswer)         \
  X(LifetimesAnswer)        \
  X(LeaksAnswer)            \
  X(AllocAnswer)            \
  X(DiffAnswer)             \
  X(RanksAnswer)

namespace tidemark {

#define TIDEMARK_NAME_ANSWER(Type) struct Type;
TIDEMARK_ANSWERS(TIDEMARK_NAME_ANSWER)
#undef TIDEMARK_NAME_ANSWER

}  // namespace tidemark
