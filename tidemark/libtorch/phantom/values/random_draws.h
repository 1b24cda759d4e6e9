// The CPU's random initialisers, not run: what they would have drawn from, and how much.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>

#include <memory>
#include <optional>

namespace tidemark::phantom {

enum class Drawing : std::uint8_t { Normal, Uniform };

// Numbers of 32 bits that this takes from the generator to fill the tensor; nothing where that is
// not sure.
std::optional<std::uint64_t> count_draws(Drawing drawing, const at::Tensor& target);

// Moves the generator on by so many numbers; what it was before.
std::shared_ptr<const at::mt19937> take_draws(at::Generator generator, std::uint64_t draws);

// A generator of our own that goes on from there.
at::Generator generator_from(const at::mt19937& engine);

}  // namespace tidemark::phantom
