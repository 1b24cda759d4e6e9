// Large CPU tensors that cost no memory for as long as nobody looks: weights of a model that a
// script builds before it moves them.
//
// While a session is open, large CPU blocks come from an allocator of ours. Initialisers of a block
// that nobody has touched are not run but written down (hollow_program.h), and the block is closed:
// hollow. Whoever touches it, be it a kernel, numpy or a bare pointer, faults, and goes on when the
// program has been run in a thread of its own. From then on it is ordinary memory.
//
//   allocate --> open, untouched --record--> hollow --touch--> filled: ordinary for good
//                      |                                          ^
//                      +------------------touch-------------------+
#pragma once

#include <ATen/core/Tensor.h>

#include <mutex>
#include <optional>

#include "tidemark/libtorch/phantom/values/hollow_program.h"

namespace tidemark::phantom {

// Blocks from this size on may be hollow.
inline constexpr std::int64_t kHollowBytes = std::int64_t{1} << 20;

// Held from the look at a block to its new contents: threads may fill views of one block.
std::unique_lock<std::mutex> lock_recording();

// True for a tensor over a large block of ours, hollow or not.
bool is_over_block(const at::Tensor& tensor);
// What is in a block of ours that nobody has touched; nothing for all other memory.
std::optional<Contents> untouched_contents(const at::Tensor& tensor);
// Hollow from now on, with this in it; a null program opens it. False where the system refuses.
bool set_contents(const at::Tensor& tensor, Program program);
// Its values are about to be overwritten, all of them, by somebody who does not read them.
void drop_contents(const at::Tensor& tensor);
// Gives a storage its memory, for calls of the system, which fail where a program would fault.
void fill_storage(const c10::Storage& storage);
// True when it was read beyond the budget: zeros, whatever the program said.
bool has_lost_values(const at::Tensor& tensor);
// True in the thread that runs a program.
bool is_filling();

// `budget_bytes`: what hollow tensors may take of the host's memory when they are read.
void install_hollow_memory(std::int64_t budget_bytes);
void remove_hollow_memory();

// To be called when the program has put a handler of its own over ours: ours comes first again.
void watch_hollow_memory();
// Nobody may be inside while the process forks.
void hold_hollow_memory();
void let_go_of_hollow_memory();

}  // namespace tidemark::phantom
