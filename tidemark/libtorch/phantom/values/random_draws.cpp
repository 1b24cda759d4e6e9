// Counts by a rule, once the rule has held for a few numbers that were really drawn.
#include "tidemark/libtorch/phantom/values/random_draws.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <array>
#include <atomic>

#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/values/twister_jump.h"

namespace tidemark::phantom {
namespace {

// Normal numbers are made sixteen at a time; of a last group that is not full all are drawn anew.
constexpr std::int64_t kGroup = 16;

std::int64_t numbers(Drawing drawing, at::ScalarType dtype, std::int64_t count) {
  if (drawing == Drawing::Uniform) return count;
  const bool in_place = dtype == at::kFloat || dtype == at::kDouble;
  return (in_place ? count : count / kGroup * kGroup) + (count % kGroup == 0 ? 0 : kGroup);
}

std::uint64_t rule(Drawing drawing, at::ScalarType dtype, std::int64_t count) {
  return static_cast<std::uint64_t>(numbers(drawing, dtype, count)) *
         (dtype == at::kDouble ? 2 : 1);
}

bool are_same(const at::mt19937_data_pod& a, const at::mt19937_data_pod& b) {
  return a.left_ == b.left_ && a.next_ == b.next_ && a.state_ == b.state_;
}

at::mt19937 engine_of(const at::Generator& generator) {
  return at::check_generator<at::CPUGeneratorImpl>(generator)->engine();
}

// Another PyTorch may draw otherwise: this one is asked.
bool rule_holds(Drawing drawing, at::ScalarType dtype, std::int64_t count) {
  at::AutoDispatchBelowADInplaceOrView below;
  QuietPython quiet;
  at::mt19937 expected(1);
  const at::Generator generator = generator_from(expected);
  const at::Tensor few = at::empty({count}, at::TensorOptions().dtype(dtype).device(at::kCPU));
  if (drawing == Drawing::Normal) few.normal_(0, 1, generator);
  else few.uniform_(0, 1, generator);
  skip_draws(expected, rule(drawing, dtype, count));
  return are_same(expected.data(), engine_of(generator).data());
}

bool is_tried(Drawing drawing, at::ScalarType dtype) {
  enum Tried : std::uint8_t { NotYet, Holds, Fails };
  constexpr auto kTypes = static_cast<std::size_t>(at::ScalarType::NumOptions);
  static std::array<std::array<std::atomic<Tried>, kTypes>, 2> tried{};
  auto& here = tried[static_cast<std::size_t>(drawing)][static_cast<std::size_t>(dtype)];
  if (here == NotYet)
    here = rule_holds(drawing, dtype, 3 * kGroup) && rule_holds(drawing, dtype, 3 * kGroup + 5)
               ? Holds
               : Fails;
  return here == Holds;
}

}  // namespace

std::optional<std::uint64_t> count_draws(Drawing drawing, const at::Tensor& target) {
  const at::ScalarType dtype = target.scalar_type();
  const bool is_known_type =
      dtype == at::kFloat || dtype == at::kDouble || dtype == at::kHalf || dtype == at::kBFloat16;
  const std::int64_t count = target.numel();
  if (!is_known_type || count < kGroup) return std::nullopt;
  if (drawing == Drawing::Normal && !target.is_contiguous()) return std::nullopt;
  if (!is_tried(drawing, dtype)) return std::nullopt;
  return rule(drawing, dtype, count);
}

std::shared_ptr<const at::mt19937> take_draws(at::Generator generator, std::uint64_t draws) {
  auto* cpu = at::check_generator<at::CPUGeneratorImpl>(generator);
  std::lock_guard lock(generator.mutex());
  at::mt19937 engine = cpu->engine();
  auto before = std::make_shared<const at::mt19937>(engine);
  skip_draws(engine, draws);
  cpu->set_engine(engine);
  return before;
}

at::Generator generator_from(const at::mt19937& engine) {
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>();
  at::check_generator<at::CPUGeneratorImpl>(generator)->set_engine(engine);
  return generator;
}

}  // namespace tidemark::phantom
