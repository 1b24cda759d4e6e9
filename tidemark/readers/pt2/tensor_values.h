// The tensors of an exported model: their bytes, devices and layouts, symbolic sizes included.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/engine/graph/builder.h"
#include "tidemark/engine/operators/aliases.h"
#include "tidemark/readers/pt2/names.h"

namespace tidemark::pt2 {

class TensorValues {
 public:
  // `values` is the graph's tensor_values. Dimensions, hints, bytes and diagnostics go into the
  // builder.
  TensorValues(Json values, GraphBuilder& builder);

  // What is not a tensor (a number, a custom object) has no entry.
  bool contains(std::string_view name) const { return values_.contains(name); }
  // A new storage for this tensor.
  StorageId allocate(std::string_view name);
  // Whether the second is a view of the first, for operators that may return one.
  bool is_view(std::string_view of, std::string_view result) const;

 private:
  struct Value {
    int dtype = 0;
    DeviceId device;
    bool is_strided = true;  // others have no bytes that sizes tell
    std::vector<SizeExpression> sizes, strides;
    SizeExpression offset;
    std::vector<std::int64_t> hinted_sizes, hinted_strides;
  };
  Value read(std::string_view name, Json json);
  SizeExpression read_size(std::string_view name, Json json, std::int64_t& hinted);
  SizeExpression parse(std::string_view name, std::string_view text,
                       std::optional<std::int64_t> hint);
  std::int64_t element_bytes(std::string_view name, int dtype);
  operators::Layout layout(const Value& value) const;

  GraphBuilder& builder_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace tidemark::pt2
