// Writes arguments down, short and unambiguous.
#include "tidemark/libtorch/phantom/kernel/signature.h"

#include <array>
#include <charconv>

#include "tidemark/libtorch/shape_text.h"

namespace tidemark::phantom {
namespace {

// Lists as long as a model has parameters are told by their ends.
constexpr std::size_t kMostListed = 4;

void write(std::string& out, const at::Tensor& tensor) {
  if (!tensor.defined()) {
    out += "None";
    return;
  }
  write_shape(out, tensor);
  if (!tensor.is_contiguous()) {
    out += '{';
    join(out, tensor.strides());
    out += '}';
  }
  if (tensor.device().is_cpu()) out += "@cpu";
}

void write(std::string& out, const c10::IValue& value);

void write_list(std::string& out, c10::ArrayRef<c10::IValue> items) {
  out += '[';
  for (std::size_t i = 0; i < items.size() && i < kMostListed; ++i) {
    if (i > 0) out += ", ";
    write(out, items[i]);
  }
  if (items.size() > kMostListed) out += ", ... " + std::to_string(items.size());
  out += ']';
}

std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

void write(std::string& out, const c10::IValue& value) {
  if (value.isTensor()) write(out, value.toTensor());
  else if (value.isInt()) out += std::to_string(value.toInt());
  else if (value.isDouble()) out += shortest(value.toDouble());
  else if (value.isBool()) out += value.toBool() ? "True" : "False";
  else if (value.isNone()) out += "None";
  else if (value.isString()) out.append("'").append(value.toStringRef()).append("'");
  else if (value.isDevice()) out += value.toDevice().str();
  else if (value.isList()) write_list(out, value.toListRef());
  else out += value.tagKind();
}

}  // namespace

std::string text_of(at::IntArrayRef sizes) {
  std::string out = "[";
  join(out, sizes, ", ");
  return out + "]";
}

std::string results_of(CallFrame& frame) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < frame.result_count(); ++i)
    for_each_tensor(frame.result(i), [&](const at::Tensor& tensor) {
      if (!tensor.defined() || ++count > kMostListed) return;
      out += count == 1 ? " -> " : ", ";
      write_shape(out, tensor);
    });
  return out;
}

std::string signature_of(const CallFrame& frame) {
  std::string out = "(";
  for (std::size_t i = 0; i < frame.count(); ++i) {
    if (i > 0) out += ", ";
    write(out, frame.arg(i));
  }
  return out + ")";
}

}  // namespace tidemark::phantom
