// The shapes of cuDNN's recurrent operators.
//
// A net's weights lie in one buffer, matrices first, then biases; so do their gradients:
//
//   | w_ih l0 | w_hh l0 | w_ih l1 | w_hh l1 | ... | b_ih l0 | b_hh l0 | b_ih l1 | ... |
#include "tidemark/libtorch/phantom/cuda/recurrent.h"

#include <ATen/ATen.h>

#include <array>

#include "tidemark/libtorch/phantom/cuda/dropout_states.h"
#include "tidemark/libtorch/phantom/cuda/recurrent_workspace.h"
#include "tidemark/libtorch/phantom/cuda/workspaces.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

// Time comes first inside cuDNN; a batch-first tensor is a transposed view of that.
at::Tensor new_sequence(const at::Tensor& like, std::vector<std::int64_t> sizes, bool batch_first) {
  if (!batch_first) return new_phantom(like, sizes);
  std::swap(sizes[0], sizes[1]);
  at::Tensor made = new_phantom(like, sizes);
  const std::array<std::int64_t, 3> turned{sizes[1], sizes[0], sizes[2]};
  const std::array<std::int64_t, 3> strides{sizes[2], sizes[1] * sizes[2], 1};
  made.unsafeGetTensorImpl()->set_sizes_and_strides(turned, strides);
  return made;
}

// The arguments that forward and backward share, at their places in the forward's list.
struct Net {
  at::Tensor input, hidden, cell;
  c10::List<at::Tensor> weights;
  std::int64_t mode, hidden_size, projection, layers;
  bool batch_first, train, bidirectional;
  double dropout;
  std::vector<std::int64_t> batch_sizes;

  std::int64_t directions() const { return bidirectional ? 2 : 1; }
  std::int64_t output_size() const { return projection > 0 ? projection : hidden_size; }
  bool is_packed() const { return !batch_sizes.empty(); }
  std::int64_t batch() const {
    return is_packed() ? batch_sizes.front() : input.size(batch_first ? 0 : 1);
  }
  std::int64_t tokens() const { return input.numel() / input.size(-1); }
};

at::Tensor optional_tensor(const c10::IValue& value) {
  return value.isTensor() ? value.toTensor() : at::Tensor();
}

// `first` is where "mode" stands: the backward has more tensors before it.
Net read_net(const CallFrame& frame, std::size_t first) {
  return {frame.arg(0).toTensor(),
          frame.arg(4).toTensor(),
          optional_tensor(frame.arg(5)),
          frame.arg(1).toTensorList(),
          frame.arg(first).toInt(),
          frame.arg(first + 1).toInt(),
          frame.arg(first + 2).toInt(),
          frame.arg(first + 3).toInt(),
          frame.arg(first + 4).toBool() && frame.arg(first + 8).toIntVector().empty(),
          frame.arg(first + 6).toBool(),
          frame.arg(first + 7).toBool(),
          frame.arg(first + 5).toDouble(),
          frame.arg(first + 8).toIntVector()};
}

// What the rules ask about it. Dropout is for training alone.
RecurrentNet shape_of(const Net& net) {
  const auto steps = static_cast<std::int64_t>(net.batch_sizes.size());
  return {.mode = static_cast<RecurrentMode>(net.mode),
          .input = net.input.size(-1),
          .hidden = net.hidden_size,
          .projection = net.projection,
          .layers = net.layers,
          .batch = net.batch(),
          .tokens = net.tokens(),
          .padded_tokens = net.is_packed() ? steps * net.batch() : net.tokens(),
          .itemsize = static_cast<std::int64_t>(net.input.itemsize()),
          .bidirectional = net.bidirectional,
          .is_packed = net.is_packed(),
          .trains = net.train,
          .drops = net.train && net.dropout > 0,
          .is_bfloat16 = net.input.scalar_type() == at::kBFloat16};
}

c10::Storage hold_for(const Net& net, std::int64_t bytes) {
  return hold_workspace(net.input.device().index(), bytes);
}

// cuDNN wants time first and no gaps: what lies otherwise is copied, for the length of the call.
c10::Storage hold_turned_input(const Net& net) {
  const at::Tensor& x = net.input;
  const bool lies_so = net.batch_first ? x.stride(2) == 1 && x.stride(0) == x.size(2) &&
                                             x.stride(1) == x.size(0) * x.size(2)
                                       : x.is_contiguous();
  return lies_so ? c10::Storage() : hold_for(net, static_cast<std::int64_t>(x.nbytes()));
}

// A gradient that autograd leaves out is made of zeros, for the length of the call.
c10::Storage hold_zeros(const Net& net, const c10::IValue& gradient, const at::Tensor& like) {
  const bool is_there = optional_tensor(gradient).defined() || !like.defined();
  return is_there ? c10::Storage() : hold_for(net, static_cast<std::int64_t>(like.nbytes()));
}

std::int64_t count_elements(const c10::List<at::Tensor>& weights) {
  std::int64_t count = 0;
  for (at::Tensor weight : weights) count += weight.numel();
  return count;
}

// Where each weight begins in the one buffer, counted in elements.
std::vector<std::int64_t> offsets_of(const c10::List<at::Tensor>& weights) {
  std::vector<std::int64_t> offsets(weights.size());
  std::int64_t next = 0;
  for (const bool matrices : {true, false})
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const at::Tensor weight = weights.get(i);
      if ((weight.dim() > 1) != matrices) continue;
      offsets[i] = next;
      next += weight.numel();
    }
  return offsets;
}

// Of all weights, in one buffer like theirs.
c10::List<at::Tensor> new_gradients(const Net& net, const at::Tensor& buffer) {
  const at::Tensor all = new_phantom(buffer, buffer.sizes());
  const std::vector<std::int64_t> offsets = offsets_of(net.weights);
  c10::List<at::Tensor> gradients;
  for (std::size_t i = 0; i < net.weights.size(); ++i) {
    const auto sizes = net.weights.get(i).sizes();
    gradients.push_back(make_phantom(all.storage(), buffer.dtype(),
                                     {sizes, c10::contiguous_strides(sizes), offsets[i]}));
  }
  return gradients;
}

}  // namespace

bool answer_recurrent(CallFrame& frame) {
  const Net net = read_net(frame, 6);
  const RecurrentNet shape = shape_of(net);
  if (shape.drops) keep_dropout_states(net.input.device().index());
  std::vector<std::int64_t> sizes = net.input.sizes().vec();
  sizes.back() = net.output_size() * net.directions();
  const std::int64_t states = net.layers * net.directions();
  const c10::Storage turned = hold_turned_input(net);
  at::Tensor output = new_sequence(net.input, sizes, net.batch_first);
  at::Tensor hidden = new_phantom(net.hidden, {states, net.batch(), net.output_size()});
  at::Tensor cell = net.cell.defined()
                        ? new_phantom(net.cell, {states, net.batch(), net.hidden_size})
                        : new_phantom(net.hidden, {0});
  at::Tensor buffer = optional_tensor(frame.arg(3));
  if (!buffer.defined()) buffer = new_phantom(net.weights.get(0), {count_elements(net.weights)});
  const c10::Storage workspace = hold_for(net, recurrent_workspace(shape));
  at::Tensor reserve =
      new_phantom(net.input, {net.train ? recurrent_reserve(shape) : 0}, at::ScalarType::Byte);
  frame.drop_args();
  for (at::Tensor* result : {&output, &hidden, &cell, &reserve, &buffer})
    frame.push(std::move(*result));
  return true;
}

bool answer_recurrent_backward(CallFrame& frame) {
  const Net net = read_net(frame, 10);
  const auto wanted = frame.arg(21).toBoolList();
  const at::Tensor buffer = frame.arg(3).toTensor();
  const std::int64_t bytes = recurrent_workspace(shape_of(net));
  const c10::Storage zeros = hold_zeros(net, frame.arg(8), net.hidden);
  const c10::Storage cell_zeros = hold_zeros(net, frame.arg(9), net.cell);
  const c10::Storage turned = hold_turned_input(net);
  // These are computed whether they are wanted or not: the weights' need what that leaves behind.
  at::Tensor input = new_sequence(net.input, net.input.sizes().vec(), net.batch_first);
  at::Tensor hidden = new_phantom(net.hidden, net.hidden.sizes()), cell;
  if (net.cell.defined()) cell = new_phantom(net.cell, net.cell.sizes());
  hold_for(net, bytes);
  c10::List<at::Tensor> weights;
  if (wanted.get(3)) {
    weights = new_gradients(net, buffer);
    hold_for(net, bytes);
  }
  if (!wanted.get(0) && !wanted.get(1) && !wanted.get(2)) input = hidden = cell = at::Tensor();
  frame.drop_args();
  for (at::Tensor* result : {&input, &hidden, &cell}) frame.push(std::move(*result));
  frame.push(std::move(weights));
  return true;
}

bool flatten_weights(CallFrame& frame) {
  const c10::List<at::Tensor> weights = frame.arg(0).toTensorList();
  at::Tensor all = new_phantom(weights.get(0), {count_elements(weights)});
  const std::vector<std::int64_t> offsets = offsets_of(weights);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const at::Tensor weight = weights.get(i);
    const auto sizes = weight.sizes().vec();
    put_over(weight, all.storage());
    weight.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, c10::contiguous_strides(sizes),
                                                        offsets[i]);
  }
  frame.drop_args();
  frame.push(std::move(all));
  return true;
}

}  // namespace tidemark::phantom
