// Walks through the range, row by row, from a drawn place by a drawn step.
#include "tidemark/libtorch/phantom/values/made_up_indices.h"

#include <ATen/ATen.h>
#include <ATen/SavedTensorHooks.h>

#include <array>
#include <numeric>
#include <utility>

#include "tidemark/libtorch/phantom/log/module_calls.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

// Well mixed and the same on every machine; a thread's calls of a session are numbered from 0.
class Draws {
 public:
  Draws() {
    thread_local std::uint32_t session = 0;
    thread_local std::uint64_t calls = 0;
    if (std::exchange(session, session_number()) != session_number()) calls = 0;
    state_ = ++calls << 32;
  }
  std::int64_t below(std::int64_t range) {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::int64_t>((x ^ (x >> 31)) % static_cast<std::uint64_t>(range));
  }

 private:
  std::uint64_t state_;
};

// Steps that share no factor with the range: a walk by one meets all indices before it repeats.
using Steps = std::array<std::int64_t, 8>;
Steps draw_steps(Draws& draws, std::int64_t range) {
  Steps steps{};
  for (std::int64_t& step : steps) do {
      step = 1 + draws.below(range - 1);
    } while (std::gcd(step, range) != 1);
  return steps;
}

// Whatever is computed again must give the same shapes. It is computed under hooks on saved tensors
// or in a backward, and for the first time under such hooks or without gradients.
bool may_be_computed_again() {
  return !at::GradMode::is_enabled() ||
         !at::SavedTensorDefaultHooks::get_tls_state().stack.empty() || is_in_backward();
}

at::Tensor even_indices(at::IntArrayRef sizes, std::int64_t range) {
  return at::arange(c10::multiply_integers(sizes), at::TensorOptions().dtype(at::kLong))
      .mul_(range % 7 == 0 ? 1 : 7)
      .remainder_(range)
      .reshape(sizes);
}

void draw_rows(std::int64_t* index, std::int64_t rows, std::int64_t length, std::int64_t range) {
  Draws draws;
  const Steps steps = draw_steps(draws, range);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t step = steps[draws.below(steps.size())];
    std::int64_t at = draws.below(range);
    for (std::int64_t i = 0; i < length; ++i, at = (at + step) % range) *index++ = at;
  }
}

}  // namespace

at::Tensor made_up_indices(at::IntArrayRef sizes, std::optional<std::int64_t> row_dimension,
                           std::int64_t range) {
  if (range <= 1) return at::zeros(sizes, at::TensorOptions().dtype(at::kLong));
  if (may_be_computed_again()) return even_indices(sizes, range);
  at::Tensor indices = at::empty(sizes, at::TensorOptions().dtype(at::kLong));
  if (row_dimension) indices = indices.transpose(*row_dimension, -1).contiguous();
  const std::int64_t length = row_dimension ? indices.size(-1) : 1;
  if (indices.numel() > 0)
    draw_rows(indices.mutable_data_ptr<std::int64_t>(), indices.numel() / length, length, range);
  return row_dimension ? indices.transpose(*row_dimension, -1) : indices;
}

}  // namespace tidemark::phantom
