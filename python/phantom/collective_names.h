// What PyTorch calls the collectives of one tensor a rank: it has given them new names, and calls
// its backends by these.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

// A macro of PyTorch's own, which came with the new names.
#ifdef C10D_BACKEND_FORWARDING_GUARD
#define TIDEMARK_ALL_GATHER_SINGLE all_gather_single
#define TIDEMARK_ALL_GATHER_SINGLE_COALESCED all_gather_single_coalesced
#define TIDEMARK_REDUCE_SCATTER_SINGLE reduce_scatter_single
#define TIDEMARK_REDUCE_SCATTER_SINGLE_COALESCED reduce_scatter_single_coalesced
#define TIDEMARK_ALL_TO_ALL_SINGLE all_to_all_single
#else
#define TIDEMARK_ALL_GATHER_SINGLE _allgather_base
#define TIDEMARK_ALL_GATHER_SINGLE_COALESCED allgather_into_tensor_coalesced
#define TIDEMARK_REDUCE_SCATTER_SINGLE _reduce_scatter_base
#define TIDEMARK_REDUCE_SCATTER_SINGLE_COALESCED reduce_scatter_tensor_coalesced
#define TIDEMARK_ALL_TO_ALL_SINGLE alltoall_base
#endif
