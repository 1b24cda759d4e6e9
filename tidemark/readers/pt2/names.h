// Names in the JSON of an exported model: what arguments name, and what operators are called.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::pt2 {

using Json = simdjson::dom::element;

struct Named {
  std::string name;
  bool is_tensor = false;  // or a list of them; else a symbolic number
};

// Every name in an argument, in order. What a graph in it names is its own.
std::vector<Named> names_in(Json argument);

// Whether the argument is a graph, or has one in it.
bool has_graph(Json argument);

// "torch.ops.aten.linear.default" is aten::linear.
std::string op_name(std::string_view target);

// "L__self__,,M;L__self__l.0,l.0,Linear": the path of the innermost module.
std::string scope_of(std::string_view stack);

}  // namespace tidemark::pt2
