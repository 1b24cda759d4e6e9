// Decides by dtype and size alone: a large block of the system's allocator has no pages until written.
#include "tidemark/torch/phantom/hollow_memory.h"

#include "tidemark/torch/phantom/session.h"

namespace tidemark::phantom {

bool is_hollow(const at::Tensor& tensor) {
  return session_is_open() && tensor.defined() && tensor.device().is_cpu() &&
         at::isFloatingType(tensor.scalar_type()) && tensor.has_storage() &&
         static_cast<std::int64_t>(tensor.storage().nbytes()) >= kHollowBytes;
}

}  // namespace tidemark::phantom
