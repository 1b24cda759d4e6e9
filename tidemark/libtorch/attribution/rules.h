// What a run is told apart by: the rules of those who attribute its storages.
#pragma once

namespace tidemark::attribution {

struct Rules {
  // Recomputation is what runs in a backward with gradients on; otherwise it is only what runs
  // inside a module that is called in a backward, as PyTorch's tracker has it.
  bool recompute_by_grad_mode = false;
  // Storages made by no operator (a saved random state) count too; PyTorch's tracker knows only
  // what leaves operators.
  bool count_outside_operators = false;
  // Storages count from their birth, and nobody tells when operators end: cheaper, but what lives
  // only inside an operator counts like its results.
  bool count_at_birth = false;
  // Training steps are told: before the first one, outside of modules, nobody knows what a storage
  // is for. Otherwise all of it is taken for activations, as PyTorch's tracker has it.
  bool knows_steps = false;
  // A device is charged as its allocator counts: for whole blocks, where these are told. PyTorch's
  // trackers know tensors alone.
  bool counts_blocks = false;
};

}  // namespace tidemark::attribution
