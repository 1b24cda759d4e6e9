// torch.lstm, torch.gru and torch.rnn_* ask a table for cuDNN's kernel; ours calls its operator.
#include <ATen/ATen.h>
#include <ATen/native/RNN.h>

#include <array>
#include <utility>

#include "tidemark/libtorch/phantom/cuda/cuda_stub.h"
#include "tidemark/libtorch/phantom/cuda/recurrent.h"

namespace tidemark::phantom {
namespace {

using at::Tensor;
using at::TensorList;

enum Mode : std::int64_t { kRelu = 0, kTanh = 1, kLstm = 2, kGru = 3 };  // as cuDNN numbers them

struct Options {
  Mode mode;
  bool has_biases;
  std::int64_t layers;
  double dropout;
  bool train, bidirectional, batch_first;
};

// Weights in one buffer are handed on as that buffer.
Tensor shared_buffer(TensorList weights) {
  std::int64_t count = 0;
  for (const Tensor& weight : weights) {
    if (!weight.storage().is_alias_of(weights[0].storage())) return {};
    count += weight.numel();
  }
  const auto bytes = static_cast<std::int64_t>(weights[0].storage().nbytes());
  if (bytes != count * static_cast<std::int64_t>(weights[0].itemsize())) return {};
  return weights[0].detach().as_strided({count}, {1}, 0);
}

auto call(const Options& o, const Tensor& input, at::IntArrayRef batch_sizes, const Tensor& hx,
          const Tensor& cx, TensorList weights) {
  const std::int64_t hidden = cx.defined() ? cx.size(2) : hx.size(2);
  const std::int64_t projection = hidden == hx.size(2) ? 0 : hx.size(2);
  const std::int64_t per_layer = (o.has_biases ? 4 : 2) + (projection > 0 ? 1 : 0);
  return at::_cudnn_rnn(input, weights, per_layer, shared_buffer(weights), hx, cx, o.mode, hidden,
                        projection, o.layers, o.batch_first, o.dropout, o.train, o.bidirectional,
                        batch_sizes, {});
}

at::IntArrayRef as_list(const Tensor& batch_sizes) {
  return {batch_sizes.const_data_ptr<std::int64_t>(),
          static_cast<std::size_t>(batch_sizes.size(0))};
}

void lstm(Tensor& output, Tensor& hy, Tensor& cy, const Tensor& input, TensorList hx,
          TensorList weights, bool has_biases, std::int64_t layers, double dropout, bool train,
          bool bidirectional, bool batch_first) {
  const Options options{kLstm, has_biases, layers, dropout, train, bidirectional, batch_first};
  std::tie(output, hy, cy, std::ignore, std::ignore) =
      call(options, input, {}, hx[0], hx[1], weights);
}

void lstm_packed(Tensor& output, Tensor& hy, Tensor& cy, const Tensor& data,
                 const Tensor& batch_sizes, TensorList hx, TensorList weights, bool has_biases,
                 std::int64_t layers, double dropout, bool train, bool bidirectional) {
  const Options options{kLstm, has_biases, layers, dropout, train, bidirectional, false};
  std::tie(output, hy, cy, std::ignore, std::ignore) =
      call(options, data, as_list(batch_sizes), hx[0], hx[1], weights);
}

template <Mode mode>
void rnn(Tensor& output, Tensor& hy, const Tensor& input, const Tensor& hx, TensorList weights,
         bool has_biases, std::int64_t layers, double dropout, bool train, bool bidirectional,
         bool batch_first) {
  const Options options{mode, has_biases, layers, dropout, train, bidirectional, batch_first};
  std::tie(output, hy, std::ignore, std::ignore, std::ignore) =
      call(options, input, {}, hx, {}, weights);
}

template <Mode mode>
void rnn_packed(Tensor& output, Tensor& hy, const Tensor& data, const Tensor& batch_sizes,
                const Tensor& hx, TensorList weights, bool has_biases, std::int64_t layers,
                double dropout, bool train, bool bidirectional) {
  const Options options{mode, has_biases, layers, dropout, train, bidirectional, false};
  std::tie(output, hy, std::ignore, std::ignore, std::ignore) =
      call(options, data, as_list(batch_sizes), hx, {}, weights);
}

// Each table's place for CUDA, and what we put there.
auto all_stubs() {
  namespace native = at::native;
  const auto pointer = [](auto function) { return reinterpret_cast<void*>(function); };
  return std::array{
      std::pair{&cuda_pointer(native::lstm_cudnn_stub), pointer(&lstm)},
      std::pair{&cuda_pointer(native::lstm_packed_cudnn_stub), pointer(&lstm_packed)},
      std::pair{&cuda_pointer(native::gru_cudnn_stub), pointer(&rnn<kGru>)},
      std::pair{&cuda_pointer(native::gru_packed_cudnn_stub), pointer(&rnn_packed<kGru>)},
      std::pair{&cuda_pointer(native::rnn_tanh_cudnn_stub), pointer(&rnn<kTanh>)},
      std::pair{&cuda_pointer(native::rnn_tanh_packed_cudnn_stub), pointer(&rnn_packed<kTanh>)},
      std::pair{&cuda_pointer(native::rnn_relu_cudnn_stub), pointer(&rnn<kRelu>)},
      std::pair{&cuda_pointer(native::rnn_relu_packed_cudnn_stub), pointer(&rnn_packed<kRelu>)},
  };
}

std::array<void*, 8> g_stubs_before{};  // in PyTorch's own global tables

}  // namespace

void install_recurrent_nets() {
  const auto stubs = all_stubs();
  for (std::size_t i = 0; i < stubs.size(); ++i)
    g_stubs_before[i] = std::exchange(*stubs[i].first, stubs[i].second);
}

void remove_recurrent_nets() {
  const auto stubs = all_stubs();
  for (std::size_t i = 0; i < stubs.size(); ++i) *stubs[i].first = g_stubs_before[i];
}

}  // namespace tidemark::phantom
