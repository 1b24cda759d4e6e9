// The tensors of an exported model: their bytes, devices and layouts, symbolic sizes included.
#pragma once

#include <simdjson.h>

#include <map>
#include <string>
#include <vector>

#include "tidemark/engine/graph/builder.h"
#include "tidemark/engine/operators/aliases.h"

namespace tidemark::pt2 {

using Json = simdjson::dom::element;

class TensorValues {
 public:
  // `values` is the graph's tensor_values. Dimensions, hints and bytes go into the builder.
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
    std::vector<SizeExpression> sizes, strides;
    SizeExpression offset;
    std::vector<std::int64_t> hinted_sizes, hinted_strides;
  };
  Value read(Json json);
  SizeExpression read_size(Json json, std::int64_t& hinted);
  operators::Layout layout(const Value& value) const;

  GraphBuilder& builder_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace tidemark::pt2
