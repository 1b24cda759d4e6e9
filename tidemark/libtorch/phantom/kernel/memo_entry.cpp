// Learns recipes from results, and follows them.
#include "tidemark/libtorch/phantom/kernel/memo_entry.h"

#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

using From = OutputRule::From;

class Learner {
 public:
  explicit Learner(const std::vector<at::Tensor>& inputs) : inputs_(inputs) {}

  // False when this tensor cannot be made again.
  bool learn(const at::Tensor& output, OutputRule& rule) {
    if (!output.defined()) return true;
    if (!is_phantom(output)) return false;
    rule.dtype = output.dtype();
    rule.sizes.assign(output.sizes().begin(), output.sizes().end());
    rule.strides.assign(output.strides().begin(), output.strides().end());
    rule.offset = output.storage_offset();
    rule.storage_bytes = static_cast<std::int64_t>(output.storage().nbytes());
    find_source(output, rule);
    outputs_.push_back(output);
    return !output.is_conj() && !output.is_neg() &&
           !output.unsafeGetTensorImpl()->is_wrapped_number();
  }

 private:
  void find_source(const at::Tensor& output, OutputRule& rule) const {
    const auto* storage = output.storage().unsafeGetStorageImpl();
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].is_same(output)) return set(rule, From::Input, i);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (is_phantom(inputs_[i]) && inputs_[i].storage().unsafeGetStorageImpl() == storage)
        return set(rule, From::InputStorage, i);
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i].storage().unsafeGetStorageImpl() == storage)
        return set(rule, From::OutputStorage, i);
    set(rule, From::NewStorage, 0);
  }
  static void set(OutputRule& rule, From from, std::size_t index) {
    rule.from = from;
    rule.index = static_cast<std::uint32_t>(index);
  }

  const std::vector<at::Tensor>& inputs_;
  std::vector<at::Tensor> outputs_;  // the defined ones, in order
};

bool learn_result(const c10::IValue& value, ResultRule& rule, Learner& learner) {
  rule.is_list = value.isTensorList();
  if (!value.isTensor() && !rule.is_list) {
    rule.is_constant = true;
    rule.constant = value;
    return value.isNone() || value.isInt() || value.isBool() || value.isDouble();
  }
  bool good = true;
  for_each_tensor(value, [&](const at::Tensor& tensor) {
    rule.tensors.emplace_back();
    good = learner.learn(tensor, rule.tensors.back()) && good;
  });
  return good;
}

// Makes the outputs of one call in order.
class Maker {
 public:
  explicit Maker(c10::DeviceIndex device) : device_(device) {}

  // From the frame, which drops its arguments next.
  void take_inputs(CallFrame& frame) {
    for (std::size_t i = 0; i < frame.count(); ++i) {
      if (frame.arg(i).isTensor()) inputs_.push_back(frame.take_tensor(i));
      else for_each_tensor(frame.arg(i), [&](const at::Tensor& t) { inputs_.push_back(t); });
    }
  }

  // Storages of results in the order in which the call makes them, which may be another one.
  void bear(const std::vector<ResultRule>& results, const Workspaces& workspaces) {
    c10::SmallVector<const OutputRule*, 4> rules;
    for (const ResultRule& result : results)
      for (const OutputRule& rule : result.tensors) rules.push_back(&rule);
    born_.resize(rules.size());
    workspaces.follow(device_, rules.size(), [&](std::size_t i) {
      if (rules[i]->from == From::NewStorage && !born_[i])
        born_[i] = new_storage(device_, rules[i]->storage_bytes);
    });
  }

  at::Tensor make(const OutputRule& rule) {
    const std::size_t number = made_++;
    if (rule.from == From::Undefined) return {};
    outputs_.push_back(make_or_take(rule, number));
    return outputs_.back();
  }

 private:
  at::Tensor make_or_take(const OutputRule& rule, std::size_t number) {
    const TensorLayout layout{rule.sizes, rule.strides, rule.offset};
    switch (rule.from) {
      case From::Input: return inputs_[rule.index];
      case From::InputStorage: return make_view(inputs_[rule.index], rule.dtype, layout);
      case From::OutputStorage: return make_view(outputs_[rule.index], rule.dtype, layout);
      default: return make_phantom(storage_of(rule, number), rule.dtype, layout);
    }
  }

  c10::Storage storage_of(const OutputRule& rule, std::size_t number) {
    return number < born_.size() ? std::move(born_[number])
                                 : new_storage(device_, rule.storage_bytes);
  }

  c10::DeviceIndex device_;
  c10::SmallVector<at::Tensor, 8> inputs_;
  c10::SmallVector<at::Tensor, 4> outputs_;
  c10::SmallVector<c10::Storage, 4> born_;  // by number; none where the call takes nothing inside
  std::size_t made_ = 0;
};

}  // namespace

std::unique_ptr<MemoEntry> MemoEntry::learn(CallFrame& frame,
                                            const std::vector<at::Tensor>& inputs) {
  auto entry = std::make_unique<MemoEntry>();
  Learner learner(inputs);
  entry->results_.resize(frame.result_count());
  for (std::size_t i = 0; i < entry->results_.size(); ++i)
    if (!learn_result(frame.result(i), entry->results_[i], learner)) return nullptr;
  entry->may_be_known = true;
  for (const ResultRule& result : entry->results_)
    for (const OutputRule& rule : result.tensors) {
      entry->uses_inputs_ |= rule.from == From::Input || rule.from == From::InputStorage;
      entry->may_be_known &= rule.from != From::NewStorage ||
                             worth_knowing(rule.dtype.toScalarType(), rule.storage_bytes);
    }
  return entry;
}

void MemoEntry::apply(CallFrame& frame, const Workspaces& workspaces) const {
  Maker maker(frame.device().index());
  if (uses_inputs_) maker.take_inputs(frame);
  frame.drop_args();
  if (!workspaces.are_none()) maker.bear(results_, workspaces);
  for (const ResultRule& result : results_) {
    if (result.is_constant) {
      frame.push(result.constant);
    } else if (result.is_list) {
      c10::List<at::Tensor> list;
      list.reserve(result.tensors.size());
      for (const OutputRule& rule : result.tensors) list.push_back(maker.make(rule));
      frame.push(std::move(list));
    } else {
      frame.push(maker.make(result.tensors.front()));
    }
  }
}

}  // namespace tidemark::phantom
