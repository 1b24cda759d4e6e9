// A tensor's type and shape in short: "bf16[8,1024]".
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace tidemark {

inline const char* short_name(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat: return "f32";
    case at::kDouble: return "f64";
    case at::kHalf: return "f16";
    case at::kBFloat16: return "bf16";
    case at::kLong: return "i64";
    case at::kInt: return "i32";
    case at::kShort: return "i16";
    case at::kChar: return "i8";
    case at::kByte: return "u8";
    case at::kBool: return "bool";
    default: return c10::toString(dtype);
  }
}

inline void join(std::string& out, at::IntArrayRef values, const char* between = ",") {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += between;
    out += std::to_string(values[i]);
  }
}

inline void write_shape(std::string& out, const at::Tensor& tensor) {
  out.append(short_name(tensor.scalar_type())).append("[");
  join(out, tensor.sizes());
  out += ']';
}

}  // namespace tidemark
