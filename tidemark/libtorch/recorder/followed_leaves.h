// Tells when the gradient of a leaf has been accumulated, by hooks that Python does not see.
//
// A hook that Python sees changes what programs do: FSDP2 waits for the copy of a gradient to the
// CPU where its parameter has one.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <vector>

#include "tidemark/engine/base/category.h"

namespace tidemark::recorder {

// Whom to tell, as long as the owner lives, on the thread of the backward.
struct GradientListener {
  void (*tell)(void* owner, const at::Tensor& gradient, Category category);
  std::weak_ptr<void> owner;
  // After the hooks that the program has put on the leaf itself, if they were there first.
  bool comes_last = false;
  Category category = Category::Gradient;  // of the gradient
};

// The leaves of one listener, none of them kept alive.
class FollowedLeaves {
 public:
  void follow(const at::Tensor& leaf, const GradientListener& listener);
  // The first hook that a program puts on a leaf takes the place of ours: put it back.
  void follow_again();
  void forget();

 private:
  using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  template <class Tensor>
  struct Leaf {
    Tensor tensor;
    Category category;
  };
  std::vector<Leaf<at::Tensor>> living();

  std::mutex lock_;
  GradientListener listener_{};
  std::vector<Leaf<WeakTensor>> leaves_;
};

}  // namespace tidemark::recorder
