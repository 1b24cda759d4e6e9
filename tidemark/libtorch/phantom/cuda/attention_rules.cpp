// A table: for each kernel its rules, each with what is said of a call that breaks it.
#include "tidemark/libtorch/phantom/cuda/attention_rules.h"

#include <algorithm>
#include <array>

namespace tidemark::phantom {

// What a call must keep, and what is said of one that does not.
struct AttentionRule {
  bool (*is_kept)(const AttentionQuestion&);
  const char* broken;
  bool of_jagged = true;  // else of tensors alone whose sizes are numbers
};

namespace {

using Rule = AttentionRule;

// Of every fused kernel.
bool is_on_gpu(const AttentionQuestion& q) { return q.query.is_cuda(); }
bool has_four_dimensions(const AttentionQuestion& q) {
  return q.query.dim() == 4 && q.key.dim() == 4 && q.value.dim() == 4;
}
bool has_one_type(const AttentionQuestion& q) {
  return q.query.scalar_type() == q.key.scalar_type() &&
         q.key.scalar_type() == q.value.scalar_type();
}
bool has_positions(const AttentionQuestion& q) { return q.query.size(2) > 0 && q.key.size(2) > 0; }
bool has_one_batch_size(const AttentionQuestion& q) {
  return q.query.size(0) == q.key.size(0) && q.key.size(0) == q.value.size(0);
}
bool lies_in_rows(const AttentionQuestion& q) {
  const bool good = q.query.stride(-1) == 1 && q.key.stride(-1) == 1 && q.value.stride(-1) == 1;
  return good && (!q.has_mask() || q.mask->stride(-1) == 1 || q.mask->size(-1) == 1);
}
bool lies_in_rows_or_is_one(const AttentionQuestion& q) {
  return q.head_size() == 1 || lies_in_rows(q);
}

// Of flash and cuDNN.
bool is_half_on_ampere(const AttentionQuestion& q) { return q.is_half() && q.capability >= 80; }

// Of flash.
bool has_no_mask(const AttentionQuestion& q) { return !q.has_mask(); }
bool has_one_size_up_to_256(const AttentionQuestion& q) {
  return q.head_size() <= 256 && q.head_size() == AttentionQuestion::last_size(q.key) &&
         q.head_size() == q.value_size();
}
bool is_square_if_causal(const AttentionQuestion& q) {
  return !q.is_causal || q.query.size(2) == q.key.size(2);
}
bool groups_heads_alike(const AttentionQuestion& q) {
  const bool alike = q.key.size(1) == q.value.size(1) && q.shares_heads_of(q.key);
  return q.enable_gqa ? alike : q.same_heads();
}
// Training with large heads needs the shared memory of the chips for data centres; with the largest
// ones others do without it where nothing is dropped.
bool fits_shared_memory(const AttentionQuestion& q) {
  const bool is_small = (q.capability >= 86 && q.capability <= 89) || q.capability >= 120;
  if (!is_small || !q.needs_grad() || q.head_size() <= 192) return true;
  return q.head_size() > 224 && q.dropout == 0;
}

// Of the memory-efficient kernel.
bool has_a_type_of_the_chip(const AttentionQuestion& q) {
  if (q.query.scalar_type() == at::kBFloat16) return q.capability >= 80;
  return q.capability >= 50 && (q.is_half() || q.query.scalar_type() == at::kFloat);
}
bool is_not_grouped(const AttentionQuestion& q) { return q.same_heads(); }
// Half types are loaded in groups of eight elements, floats of four.
bool is_aligned(const AttentionQuestion& q) {
  const std::int64_t alignment = q.is_half() ? 8 : (q.capability >= 80 ? 4 : 1);
  return q.head_size() == AttentionQuestion::last_size(q.key) && q.head_size() % alignment == 0 &&
         q.value_size() % alignment == 0;
}

// Of cuDNN, 9.11 and later: every torch that is supported here comes with one. It has larger sizes
// on Hopper, and one more pair on the Blackwells for data centres.
bool has_sizes_of_cudnn(const AttentionQuestion& q) {
  if (q.capability / 10 == 10 && q.head_size() == 192 && q.value_size() == 128) return true;
  const std::int64_t most = q.capability == 90 ? 256 : 128;
  return q.head_size() <= most && q.value_size() <= most && q.head_size() % 8 == 0 &&
         q.value_size() % 8 == 0;
}
bool gives_bias_no_gradient(const AttentionQuestion& q) {
  return !q.has_mask() || !q.mask->requires_grad();
}
bool has_a_mask_of_its_shape(const AttentionQuestion& q) {
  if (!q.has_mask()) return true;
  const auto is_or_is_one = [&](std::int64_t dimension, std::int64_t size) {
    return q.mask->size(dimension) == 1 || q.mask->size(dimension) == size;
  };
  const std::int64_t dimensions = q.mask->dim();
  if (dimensions != 2 && dimensions != 4) return false;
  return is_or_is_one(-2, q.query.size(2)) && is_or_is_one(-1, q.key.size(2)) &&
         (dimensions == 2 ||
          (is_or_is_one(0, q.query.size(0)) && is_or_is_one(1, q.query.size(1))));
}
bool has_several_keys(const AttentionQuestion& q) { return q.key.size(2) > 1; }
bool groups_heads(const AttentionQuestion& q) {
  return q.enable_gqa ? q.shares_heads_of(q.key) && q.shares_heads_of(q.value) : q.same_heads();
}
bool drops_nothing_of_one_query(const AttentionQuestion& q) {
  return q.query.size(2) > 1 || q.dropout == 0;
}
bool may_vary(const AttentionQuestion&) {
  const at::Context& context = at::globalContext();
  return !context.deterministicAlgorithms() || context.deterministicAlgorithmsWarnOnly();
}

constexpr Rule kOnGpu = {&is_on_gpu, "the query is not on a GPU"};
constexpr Rule kFourDimensions = {&has_four_dimensions, "it takes tensors of four dimensions"};
constexpr Rule kOneType = {&has_one_type, "query, key and value differ in type"};
constexpr Rule kPositions = {&has_positions, "there is no query or no key", false};
constexpr Rule kOneBatchSize = {&has_one_batch_size, "the batch sizes differ", false};
constexpr const char* kNotInRows = "the last dimension's stride is not 1";
constexpr Rule kRows = {&lies_in_rows, kNotInRows, false};
constexpr Rule kRowsOrOne = {&lies_in_rows_or_is_one, kNotInRows, false};
constexpr Rule kHalfOnAmpere = {
    &is_half_on_ampere, "it takes float16 and bfloat16, on GPUs of compute capability 8.0 and up"};

constexpr std::array kFlash = {
    kOnGpu,
    kFourDimensions,
    Rule{&has_no_mask, "it takes no mask"},
    Rule{&has_one_size_up_to_256, "query, key and value need one head size, 256 at most"},
    Rule{&fits_shared_memory, "this GPU does not train with heads that large"},
    Rule{&is_square_if_causal, "is_causal needs as many queries as keys", false},
    kOneType,
    kHalfOnAmpere,
    kOneBatchSize,
    Rule{&groups_heads_alike, "the numbers of heads do not go together", false},
    kPositions,
    kRowsOrOne};
constexpr std::array kEfficient = {
    kOnGpu,
    kFourDimensions,
    Rule{&is_aligned, "head sizes must be multiples of 8, and of 4 in float32"},
    kPositions,
    kRows,
    kOneBatchSize,
    Rule{&is_not_grouped, "the numbers of heads differ", false},
    kOneType,
    Rule{&has_a_type_of_the_chip, "it takes float16 and float32, and bfloat16 from 8.0 on"}};
constexpr std::array kCudnn = {
    kOnGpu,
    kFourDimensions,
    Rule{&may_vary, "deterministic algorithms are asked for"},
    kOneType,
    kHalfOnAmpere,
    Rule{&gives_bias_no_gradient, "the mask wants a gradient"},
    kPositions,
    kRowsOrOne,
    kOneBatchSize,
    Rule{&has_a_mask_of_its_shape, "it takes no mask of that shape", false},
    Rule{&has_several_keys, "it takes more than one key", false},
    Rule{&groups_heads, "the numbers of heads do not go together", false},
    Rule{&has_sizes_of_cudnn, "it has no kernel for these head sizes", false},
    Rule{&drops_nothing_of_one_query, "it drops nothing of a single query", false}};

constexpr std::array kKernels = {
    AttentionKernel{at::SDPBackend::flash_attention, &at::Context::userEnabledFlashSDP, kFlash},
    AttentionKernel{at::SDPBackend::efficient_attention, &at::Context::userEnabledMemEfficientSDP,
                    kEfficient},
    AttentionKernel{at::SDPBackend::cudnn_attention, &at::Context::userEnabledCuDNNSDP, kCudnn},
    AttentionKernel{at::SDPBackend::math, &at::Context::userEnabledMathSDP, {}}};

}  // namespace

std::string_view AttentionKernel::obstacle(const AttentionQuestion& q) const {
  if (!(at::globalContext().*is_enabled)()) return "it is switched off";
  const auto broken = std::find_if(rules.begin(), rules.end(), [&](const AttentionRule& rule) {
    return (rule.of_jagged || !q.has_jagged()) && !rule.is_kept(q);
  });
  return broken == rules.end() ? "" : broken->broken;
}

std::span<const AttentionKernel> attention_kernels() { return kKernels; }

}  // namespace tidemark::phantom
