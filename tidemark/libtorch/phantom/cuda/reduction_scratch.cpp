// Lays a reduction out over threads and blocks as PyTorch does, to see how many share a result.
#include "tidemark/libtorch/phantom/cuda/reduction_scratch.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "tidemark/libtorch/phantom/cuda/scratch_bytes.h"

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kThreads = 512, kWarp = 32;
constexpr std::int64_t kLeastValues = 16, kMostValues = 256;  // of one thread

// Sides that follow each other in memory count as one.
void join(Sides& sides) {
  std::size_t joined = 0;
  for (std::size_t i = 0; i < sides.count; ++i) {
    const Side side = sides.list[i];
    if (side.size == 1) continue;
    Side* last = joined > 0 ? &sides.list[joined - 1] : nullptr;
    if (last && last->size * last->stride == side.stride) last->size *= side.size;
    else sides.list[joined++] = side;
  }
  sides.count = joined;
}

// Kernels count bytes in 32 bits: what reaches further is halved along its longest side.
void halve_until_counted(Reduction& r) {
  for (;;) {
    std::int64_t reach = 1;
    Side* longest = nullptr;
    for (Sides* sides : {&r.summed, &r.kept})
      for (std::size_t i = 0; i < sides->count; ++i) {
        Side& side = sides->list[i];
        const auto length = [](const Side& s) { return (s.size - 1) * s.stride; };
        reach += length(side);
        if (!longest || length(side) > length(*longest)) longest = &side;
      }
    if (!longest || longest->size < 2 ||
        reach * r.item_bytes <= std::numeric_limits<std::int32_t>::max())
      return;
    longest->size -= longest->size / 2;
  }
}

// How many neighbours of the result one load brings.
std::int64_t results_of_load(const Reduction& r) {
  std::int64_t loaded = 4;
  const auto fit = [&](std::int64_t number) {
    while (number % loaded != 0) loaded /= 2;
  };
  fit(r.offset);
  fit(r.kept.list[0].size);
  for (std::size_t i = 0; i < r.summed.count; ++i) fit(r.summed.list[i].stride);
  for (std::size_t i = 1; i < r.kept.count; ++i) fit(r.kept.list[i].stride);
  return loaded;
}

std::int64_t power_of_two_within(std::int64_t number, std::int64_t most) {
  const std::int64_t within = std::clamp<std::int64_t>(number, 1, most);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(within)));
}

struct Block {
  std::int64_t width, height;
};

Block block_of(std::int64_t across, std::int64_t down, std::int64_t threads) {
  const std::int64_t width = power_of_two_within(across, threads);
  const std::int64_t height =
      std::min(power_of_two_within(down, threads), threads / std::min(width, kWarp));
  return {std::min(width, threads / height), height};
}

}  // namespace

std::int64_t Sides::elements() const {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < count; ++i) product *= list[i].size;
  return product;
}

Scratch reduction_scratch(Reduction r) {
  halve_until_counted(r);
  std::sort(r.summed.list.begin(),
            r.summed.list.begin() + static_cast<std::ptrdiff_t>(r.summed.count),
            [](const Side& a, const Side& b) { return a.stride < b.stride; });
  join(r.summed);
  join(r.kept);
  const std::int64_t inputs = r.summed.elements(), outputs = r.kept.elements();
  if (inputs < 2 || outputs < 1) return 0;
  // Neighbouring threads take neighbours in memory: of one sum, or of the result.
  const bool along_sum = r.kept.count == 0 || r.summed.list[0].stride < r.kept.list[0].stride;
  const bool dense = (along_sum ? r.summed : r.kept).list[0].stride == 1;
  const std::int64_t loaded = dense && !along_sum ? results_of_load(r) : 1;
  const bool loads_inputs = dense && along_sum && inputs >= 128 && r.summed.count == 1;
  const std::int64_t across =
      along_sum ? inputs / (loads_inputs ? r.inputs_of_load : 1) : outputs / loaded;
  const Block block = block_of(across, along_sum ? outputs : inputs, kThreads / loaded);
  const std::int64_t lanes = along_sum ? block.width : 1;
  if (parts(inputs, lanes) < std::min(block.height * kLeastValues, kMostValues)) return 0;
  const std::int64_t values = parts(inputs, lanes * block.height);
  const std::int64_t groups = parts(outputs / loaded, along_sum ? 1 : block.width);
  const std::int64_t wanted =
      r.multiprocessors * (r.threads_of_multiprocessor / (block.width * block.height));
  if (values < kMostValues || groups > wanted) return 0;
  const std::int64_t sharing = std::max(
      std::min(parts(wanted, groups), parts(values, kLeastValues)), parts(values, kMostValues));
  if (sharing < 2) return 0;
  const std::int64_t lanes_kept = along_sum ? 1 : block.width * loaded;
  return Scratch(r.accumulator_bytes * outputs * sharing * lanes_kept) + 4 * groups;
}

}  // namespace tidemark::phantom
