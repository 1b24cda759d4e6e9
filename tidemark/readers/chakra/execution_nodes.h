// The nodes of an execution trace: operators with the storages that they took and returned.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/engine/base/interner.h"

namespace tidemark::chakra {

inline constexpr std::uint32_t kNoNumber = UINT32_MAX;

// A tensor as an operator saw it.
struct TensorUse {
  std::uint64_t storage = 0;     // the trace's number; used again when an address is
  std::int64_t reach_bytes = 0;  // from the storage's begin to the tensor's end
  std::uint32_t item_bytes = 0;
  std::uint32_t first_size = 0, dimensions = 0;  // of sizes and strides
  DeviceId device;                               // of ExecutionNodes::devices
};

enum class ArgumentKind : std::uint8_t { Nothing, Tensor, TensorList, Bool, Int, Float, Other };

struct Argument {
  ArgumentKind kind = ArgumentKind::Nothing;
  std::uint32_t first = 0, count = 0;  // of uses
};

// The scopes of record functions that matter here.
inline constexpr std::uint32_t kBackwardScope = 1, kUserScope = 7;

struct Node {
  std::uint64_t id = 0, parent = 0;
  std::int64_t sequence = -1;
  std::uint64_t thread = 0, forward_thread = 0;
  StringId name;
  std::uint32_t record = kNoNumber;  // the record function's id
  std::uint32_t scope = 0;
  std::uint32_t first_input = 0, input_count = 0;    // of arguments
  std::uint32_t first_output = 0, output_count = 0;  // likewise
};

struct ExecutionNodes {
  Interner names;
  std::vector<std::string> devices;
  std::vector<Node> nodes;
  std::vector<Argument> arguments;
  std::vector<TensorUse> uses;
  std::vector<std::int64_t> sizes, strides;  // side by side
};

class NodeParser {
 public:
  explicit NodeParser(ExecutionNodes& into);
  ~NodeParser();

  // `text` is one node with JsonStream::kPadding readable bytes behind it. Throws Error(BadFormat)
  // with its offset for what is not as the format says.
  void parse(std::string_view text, std::uint64_t offset);

 private:
  class Reading;
  std::unique_ptr<Reading> reading_;
};

}  // namespace tidemark::chakra
