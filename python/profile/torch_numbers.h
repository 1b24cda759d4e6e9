// PyTorch's numbers for categories.
#pragma once

#include <pybind11/pybind11.h>

#include "tidemark/engine/base/category.h"

namespace tidemark::python {

// The value of PyTorch's Category, or None.
inline pybind11::object category_number(Category category) {
  switch (category) {
    case Category::Input: return pybind11::int_(1);
    case Category::Temporary: return pybind11::int_(2);
    case Category::Activation: return pybind11::int_(3);
    case Category::Gradient: return pybind11::int_(4);
    case Category::AutogradDetail: return pybind11::int_(5);
    case Category::Parameter: return pybind11::int_(6);
    case Category::OptimizerState: return pybind11::int_(7);
    default: return pybind11::none();
  }
}

}  // namespace tidemark::python
