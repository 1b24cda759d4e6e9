// What a call returned once, as a recipe to return it again without running anything.
#pragma once

#include <c10/util/SmallVector.h>

#include <memory>
#include <optional>
#include <vector>

#include "tidemark/engine/base/ids.h"
#include "tidemark/libtorch/phantom/cuda/workspaces.h"
#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

struct OutputRule {
  enum class From : std::uint8_t { Undefined, Input, InputStorage, NewStorage, OutputStorage };
  From from = From::Undefined;
  std::uint32_t index = 0;  // of the input or of the earlier output
  caffe2::TypeMeta dtype;
  c10::SmallVector<std::int64_t, 5> sizes, strides;
  std::int64_t offset = 0, storage_bytes = 0;
};

struct ResultRule {
  bool is_list = false;
  bool is_constant = false;
  c10::IValue constant;  // a result that is no tensor
  std::vector<OutputRule> tensors;
};

class MemoEntry {
 public:
  // The recipe for what the frame's results are, given the tensors its arguments were; null where
  // a result cannot be made again (it is not ours, or not of a kind we know).
  static std::unique_ptr<MemoEntry> learn(CallFrame& frame, const std::vector<at::Tensor>& inputs);

  // Replaces the frame's arguments by results; workspaces are taken as those are born.
  void apply(CallFrame& frame, const Workspaces& workspaces) const;

  std::optional<Workspaces> measured;  // what the call took on a real GPU beyond its results
  CallId call;                         // the operator and its arguments, as the tape names them
  bool may_be_known = false;           // results small or whole-numbered: worth having values

 private:
  std::vector<ResultRule> results_;
  bool uses_inputs_ = false;
};

}  // namespace tidemark::phantom
