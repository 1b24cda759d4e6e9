// What CUDA takes to sort indices, and to add up the rows that share one, told from counts.
#pragma once

#include <cstdint>

namespace tidemark::phantom {

// Of CUB's radix sort of pairs, both of so many bytes, by the lowest bits of the first.
std::int64_t radix_sort_scratch(std::int64_t count, std::int64_t number_bytes, std::int64_t bits);

// To be sorted, with the places where the numbers were.
struct Rows {
  std::int64_t rows = 0, length = 0, item_bytes = 4;
  bool in_order = true;  // each lies in one piece, one after the other
};

std::int64_t sort_scratch(const Rows& rows);

// Gradients of rows, to be added into a table's rows.
struct RowSums {
  std::int64_t indices = 0, index_bytes = 8;
  std::int64_t table_rows = 0, row_length = 0;
  std::int64_t accumulator_bytes = 4;
  std::int64_t table_bytes = 0;  // comes after the sort
  bool by_frequency = false;
};

std::int64_t row_sums_scratch(const RowSums& sums);

// A table of so many rows, into which rows are added where indices say.
std::int64_t index_put_scratch(std::int64_t indices, std::int64_t table_rows);

// Of the largest ones of rows that several blocks of threads look through.
std::int64_t topk_scratch(std::int64_t rows, std::int64_t row_length, std::int64_t item_bytes,
                          std::int64_t multiprocessors);

}  // namespace tidemark::phantom
