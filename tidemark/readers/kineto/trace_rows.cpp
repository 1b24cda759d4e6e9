// Looks names of threads up; most events are of the same thread as the one before.
#include "tidemark/readers/kineto/trace_rows.h"

#include "tidemark/engine/base/error.h"

namespace tidemark::kineto {

std::uint16_t Threads::number(std::string_view name) {
  if (!numbers_.empty() && name == last_name_) return last_;
  last_name_ = name;
  const auto next = static_cast<std::uint16_t>(numbers_.size());
  const auto [found, is_new] = numbers_.try_emplace(last_name_, next);
  if (is_new && next == UINT16_MAX)
    throw Error(ErrorCode::BadFormat, "the trace has more than 65 535 threads");
  return last_ = found->second;
}

}  // namespace tidemark::kineto
