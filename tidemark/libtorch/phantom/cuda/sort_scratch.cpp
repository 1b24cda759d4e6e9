// Buffers that sorts and sums of rows hold at once, by their stages.
#include "tidemark/libtorch/phantom/cuda/sort_scratch.h"

#include <algorithm>
#include <bit>

#include "tidemark/libtorch/phantom/cuda/scratch_bytes.h"

namespace tidemark::phantom {
namespace {

constexpr std::int64_t kDigits = 256;  // of the eight bits that one pass sorts by
constexpr std::int64_t kAllBits = 64;

// Rows are looked through by one block each where there are few, or short ones.
bool shares_rows(std::int64_t rows, std::int64_t length) {
  if (rows <= 20) return length >= 20000;
  if (rows <= 40) return length >= 10000;
  if (rows <= 80) return length >= 8000;
  if (rows < 200) return length >= 5000;
  if (rows < 800) return length >= 3000;
  return length >= (rows <= 4000 ? 800 : 400);
}

// Counts of each digit in each tile, and from the second pass on another place for the pairs.
std::int64_t radix_passes_scratch(std::int64_t count, std::int64_t pair_bytes, std::int64_t passes,
                                  std::int64_t tile) {
  constexpr std::int64_t kBlock = 512;
  return (passes > 1 ? pair_bytes : 0) + passes * kDigits * 8 + parts(count, tile) * kDigits * 4 +
         kBlock;
}

}  // namespace

std::int64_t radix_sort_scratch(std::int64_t count, std::int64_t number_bytes, std::int64_t bits) {
  constexpr std::int64_t kBlock = 512;
  const bool is_long = number_bytes == 8;
  const std::int64_t tile = is_long ? 4608 : 9216, least = kDigits * (is_long ? 9 : 19);
  if (count <= least) return kBlock;
  return radix_passes_scratch(count, 2 * in_blocks(count * number_bytes), parts(bits, 8), tile);
}

std::int64_t sort_scratch(const Rows& rows) {
  constexpr std::int64_t kShort = 4096, kManyRows = 128, kPlaceBytes = 8;
  if (rows.length <= kShort) return in_blocks(rows.length * kPlaceBytes);
  const std::int64_t count = rows.rows * rows.length;
  const std::int64_t numbers = in_blocks(count * rows.item_bytes);
  const std::int64_t places = in_blocks(count * kPlaceBytes), pairs = numbers + places;
  const std::int64_t copies = rows.in_order ? 0 : numbers + pairs;
  if (rows.rows >= kManyRows) return copies + places + pairs;
  const std::int64_t tile = rows.item_bytes == 8 ? 4608 : rows.item_bytes == 4 ? 5376 : 5632;
  const std::int64_t sort = radix_passes_scratch(count, pairs, rows.item_bytes, tile);
  // Several rows are sorted as one by their numbers, and then by row.
  return copies + places + (rows.rows > 1 ? pairs : 0) + sort;
}

std::int64_t row_sums_scratch(const RowSums& s) {
  constexpr std::int64_t kRowsOfThread = 10, kCounters = 1024;
  // Long runs of one index take less than partial sums of ten rows each would; where that begins
  // lies between 2 indices for a row of the table and 160.
  constexpr std::int64_t kLongRun = 32;
  const std::int64_t column = in_blocks(s.indices * s.index_bytes);
  const std::int64_t sorted = 2 * column;  // indices, and where they were
  const std::int64_t sort = sorted + column +
                            radix_sort_scratch(s.indices, s.index_bytes, kAllBits) -
                            in_blocks(s.table_bytes);
  const std::int64_t runs = std::min(s.indices, s.table_rows);
  const std::int64_t partial_sums = s.indices / kRowsOfThread + runs;
  const std::int64_t sums = sorted + (s.by_frequency ? 2 : 1) * column + kCounters +
                            2 * in_blocks(runs * s.index_bytes) +
                            in_blocks(partial_sums * s.index_bytes) +
                            in_blocks(partial_sums * s.row_length * s.accumulator_bytes);
  const bool long_runs = s.indices >= kLongRun * s.table_rows;
  return std::max<std::int64_t>(long_runs ? sort : std::max(sort, sums), 0);
}

std::int64_t index_put_scratch(std::int64_t indices, std::int64_t table_rows) {
  const auto largest = static_cast<std::uint64_t>(std::max<std::int64_t>(table_rows - 1, 1));
  // Places in the table, these sorted, where they were, and the numbers from nought on.
  return 4 * in_blocks(indices * 8) + radix_sort_scratch(indices, 8, std::bit_width(largest));
}

std::int64_t topk_scratch(std::int64_t rows, std::int64_t row_length, std::int64_t item_bytes,
                          std::int64_t multiprocessors) {
  if (!shares_rows(rows, row_length)) return 0;
  constexpr std::int64_t kThreads = 256, kBlocksOfMultiprocessor = 6, kScan = 1536;
  const std::int64_t items = std::clamp<std::int64_t>(
      parts(rows * row_length, multiprocessors * kBlocksOfMultiprocessor * kThreads), 4, 64);
  const std::int64_t blocks = parts(row_length, items * kThreads);
  // Of each digit how many there are in a block (in 16 bits), and in all blocks before.
  const std::int64_t counts = rows * blocks * kDigits * 2 + rows * kDigits * 4;
  const std::int64_t of_row = item_bytes + 16, of_block = 8;
  return counts + rows * of_row + rows * blocks * of_block + kScan;
}

}  // namespace tidemark::phantom
