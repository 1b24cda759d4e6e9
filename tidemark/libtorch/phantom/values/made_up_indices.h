// Indices that nobody can know, such as a router's choices: spread as a balanced router spreads
// them.
//
// Each row has distinct indices, and all are used about equally often; how often exactly differs
// from call to call, as in a real run: tensors that all have one size fill an allocator's free
// blocks otherwise than tensors of nearly that size.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace tidemark::phantom {

// Rows go along `row_dimension`; without one each index is a row. What may be computed again later,
// as checkpoints do, gets the same indices each time: then, and without gradients, all are used
// equally often.
at::Tensor made_up_indices(at::IntArrayRef sizes, std::optional<std::int64_t> row_dimension,
                           std::int64_t range);

}  // namespace tidemark::phantom
