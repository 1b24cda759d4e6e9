// The arguments of an operator in our words: "(f32[8,16], f32[16,4])".
#pragma once

#include <string>
#include <string_view>

namespace tidemark::kineto {

// Both as JSON: [[8, 16], [16, 4], []] and ["float", "float", "Scalar"]. Only tensors are told;
// what does not read as that is left out.
std::string signature_of(std::string_view dims, std::string_view types);

// "f32" for "float", "bf16" for "c10::BFloat16"; other words as they are.
std::string_view short_type(std::string_view name);

}  // namespace tidemark::kineto
