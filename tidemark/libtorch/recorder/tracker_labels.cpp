// What storages are, told from outside: labels, sizes, and what modules pass on.
#include <ATen/ATen.h>
#include <c10/util/SmallVector.h>

#include <algorithm>

#include "tidemark/libtorch/recorder/allocators.h"
#include "tidemark/libtorch/recorder/gradients.h"
#include "tidemark/libtorch/recorder/recorder.h"
#include "tidemark/libtorch/recorder/tracker.h"

namespace tidemark::recorder {

using attribution::StorageKey;
using Quiet = Recorder::Quiet;

namespace {

// The storages a tensor stands on: one, none, or those of its parts if it is sparse.
template <class Visit>
void for_each_storage(const at::Tensor& tensor, const Visit& visit) {
  if (!tensor.defined()) return;
  const auto visit_part = [&](const at::Tensor& part) {
    visit(*part.storage().unsafeGetStorageImpl());
  };
  const c10::Layout layout = tensor.layout();
  if (layout == at::kStrided) {
    if (tensor.has_storage()) visit_part(tensor);
  } else if (layout == at::kSparse) {
    visit_part(tensor._indices());
    visit_part(tensor._values());
  } else if (layout == at::kSparseCsr || layout == at::kSparseBsr) {
    visit_part(tensor.crow_indices());
    visit_part(tensor.col_indices());
    visit_part(tensor.values());
  } else if (layout == at::kSparseCsc || layout == at::kSparseBsc) {
    visit_part(tensor.ccol_indices());
    visit_part(tensor.row_indices());
    visit_part(tensor.values());
  }
}

std::uint8_t device_number(const at::Tensor& tensor) {
  static const std::uint8_t cpu = Recorder::instance().device_number("cpu");
  const c10::Device device = tensor.device();
  return device.is_cpu() ? cpu : Recorder::instance().device_number(device.str());
}

// A storage that several tensors share is there once.
using Keys = c10::SmallVector<StorageKey, 4>;
Keys storages_of(at::TensorList tensors) {
  Keys keys;
  for (const at::Tensor& tensor : tensors)
    for_each_storage(tensor, [&](c10::StorageImpl& storage) {
      if (const StorageKey key = key_of(storage)) keys.push_back(key);
    });
  if (keys.size() < 2) return keys;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// A tape says of no call what it was given, but what of it may be the program's input: what no
// gradient was recorded for.
Keys possible_inputs(const Note& border, at::TensorList passed) {
  if (border.kind != NoteKind::ForwardBegan || border.has(attribution::kInBackward)) return {};
  std::vector<at::Tensor> inputs;
  for (const at::Tensor& tensor : passed)
    if (tensor.defined() && tensor.is_leaf()) inputs.push_back(tensor);
  return storages_of(inputs);
}

LabelWrapped g_label_wrapped = nullptr;

}  // namespace

bool Tracker::label(const at::Tensor& tensor, Category category) {
  if (!tensor.defined()) return true;
  if (tensor.layout() != at::kStrided || !tensor.has_storage())
    return label(at::TensorList(tensor), category);
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  const auto bytes = static_cast<std::int64_t>(storage.nbytes());
  if (bytes == 0) return true;
  const std::uint8_t device = device_number(tensor);
  const bool is_watched = watch_storage(storage);
  tell_label({key_of(storage), bytes, device}, category);
  return is_watched;
}

void Tracker::tell_label(const Labelled& storage, Category category) {
  Note note = Recorder::instance().here(NoteKind::Labelled);
  note.key = storage.key;
  note.bytes = storage.bytes;
  note.device = storage.device;
  note.flags = static_cast<std::uint8_t>(category);
  Recorder::instance().tell(run_, note);
}

bool Tracker::label(at::TensorList tensors, Category category,
                    const std::optional<std::string>& owner) {
  std::vector<Labelled> all;
  all.reserve(tensors.size());
  bool is_watched = true;
  for (const at::Tensor& tensor : tensors) {
    const std::uint8_t device = device_number(tensor);
    const bool is_strided = tensor.layout() == at::kStrided;
    for_each_storage(tensor, [&](c10::StorageImpl& storage) {
      const auto bytes = static_cast<std::int64_t>(storage.nbytes());
      if (bytes == 0) return;
      // The rows of a sparse gradient may be the very ids that the program was given.
      if (!is_strided && category_of(storage) == Category::Other) return;
      is_watched &= watch_storage(storage);
      all.push_back({key_of(storage), bytes, device});
    });
  }
  label_all(all, category, owner);
  Recorder::instance().want_sample();
  return is_watched;
}

void Tracker::label_all(const std::vector<Labelled>& all, Category category,
                        const std::optional<std::string>& owner) {
  // Where storages count from their birth no operator need be left first: a note will do. Many are
  // worth the lock.
  if (all.size() == 1 && !owner && counts_at_birth()) return tell_label(all.front(), category);
  const Quiet quiet;
  Attribution& attribution = attribution_here();
  if (owner) own(*owner);
  for (const Labelled& one : all) attribution.label(one.key, one.bytes, one.device, category);
  if (owner) own("");
}

void Tracker::follow_gradient(const at::Tensor& leaf, bool comes_last, Category category) {
  if (is_running())
    leaves_.follow(leaf, {&label_accumulated, weak_from_this(), comes_last, category});
}

void Tracker::label_accumulated(void* tracker, const at::Tensor& gradient, Category category) {
  auto& self = *static_cast<Tracker*>(tracker);
  if (!self.is_running()) return;
  if (g_label_wrapped && gradient.key_set().has(c10::DispatchKey::Python))
    return g_label_wrapped(self, gradient, category);
  self.try_to([&] { self.label(gradient, category); });
}

void set_wrapped_labeller(LabelWrapped label) { g_label_wrapped = label; }

void Tracker::set_owner(const std::string& path) {
  const Quiet quiet;
  own(path);
}

void Tracker::own(const std::string& path) {
  if (attribution::RunTape* tape = run_.tape())
    tape->set_owner(path.empty() ? ScopeId() : tape->tables().scope(path));
}

std::int64_t Tracker::known_bytes(at::TensorList tensors) {
  const Keys keys = storages_of(tensors);
  const Quiet quiet;
  const Attribution& attribution = attribution_here();
  std::int64_t bytes = 0;
  for (const StorageKey key : keys) bytes += attribution.bytes_of(key).value_or(0);
  return bytes;
}

void Tracker::tell_border(Note note, ModuleNumber module, at::TensorList passed) {
  Recorder& recorder = Recorder::instance();
  note.bytes = module;
  Keys keys = options_.tape.empty() ? storages_of(passed) : possible_inputs(note, passed);
  for (; keys.size() > 1; keys.pop_back()) {
    Note one = note;
    one.kind = NoteKind::Passed;
    one.key = keys.back();
    recorder.tell(run_, one);
  }
  if (!keys.empty()) note.key = keys.front();
  recorder.tell(run_, note);
}

void Tracker::forget(StorageKey key) {
  const Quiet quiet;
  Note note;
  note.kind = NoteKind::Died;
  note.key = key;
  attribution_here().take(note);
}

std::optional<Category> Tracker::category_of(const c10::StorageImpl& storage) {
  if (is_orphan()) return std::nullopt;
  // One without memory is known to nobody: no note need be read for it.
  const StorageKey key = key_of(storage);
  if (!key) return std::nullopt;
  const Quiet quiet;
  return attribution_here().category_of(key);
}

}  // namespace tidemark::recorder
