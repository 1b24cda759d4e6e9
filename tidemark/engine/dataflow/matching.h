// Which overloads an operator call can have been, and which of its inputs they write.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tidemark/engine/dataflow/keys.h"
#include "tidemark/engine/operators/schemas.h"

namespace tidemark::dataflow {

// The overloads of an operator by its name without overload; none for what is no operator.
using SchemaSource = std::function<std::vector<operators::Schema>(std::string_view name)>;

// What is seen of an argument. A tensor whose storage nobody can name counts as nothing.
enum class Seen : std::uint8_t {
  Nothing,
  Tensor,
  Tensors,
  SomeTensors,
  Bool,
  Int,
  Float,
  Complex,
  Other
};

enum class Written : std::uint8_t { No, Yes, Unknown };

// By input of an operator.
std::vector<Seen> seen_inputs(const Recording& recording, const Keys& keys, const Operator& op);
bool fits(Seen seen, const operators::Argument& argument);
// Of the overloads, which fit; their numbers.
std::vector<std::uint32_t> fitting(std::span<const Seen> seen,
                                   std::span<const operators::Schema> schemas);

struct Match {
  bool found = false;            // an overload fits
  std::vector<Written> written;  // by input; unknown for all where no overload fits
};

// Asks the source once for each operator name with these kinds of arguments.
class Matcher {
 public:
  Matcher(const Recording& recording, const Keys& keys, const SchemaSource& source)
      : recording_(recording), keys_(keys), source_(source) {}

  // Of a row of Recording::operators with that name. Lives as long as this.
  const Match& match(const Operator& op, StringId name);

 private:
  const Recording& recording_;
  const Keys& keys_;
  const SchemaSource& source_;
  std::unordered_map<StringId, std::vector<operators::Schema>> schemas_;
  std::unordered_map<std::string, Match> matches_;  // by name and kinds of arguments, in bytes
  std::string wanted_;
};

}  // namespace tidemark::dataflow
