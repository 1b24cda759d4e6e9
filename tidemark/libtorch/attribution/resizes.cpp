// Storages that get other memory: each stays what it was, also while it has none.
#include "tidemark/libtorch/attribution/attribution.h"

namespace tidemark::attribution {

void Attribution::resizing(const Note& note) {
  Resize& resize = thread(note.thread).resize;
  resize = {static_cast<StorageKey>(note.bytes), std::nullopt};
  if (note.key) {
    leave_all_operators();
    if (const auto category = category_of(note.key))
      resize.former = Former{*category, device_of(note.key)};
  }
  if (resize.former) return;
  const auto emptied = emptied_.find(resize.storage);
  if (emptied == emptied_.end()) return;
  resize.former = emptied->second;
  emptied_.erase(emptied);
}

// An allocator that we hear has told of the new memory already.
void Attribution::resized(const Note& note) {
  const Resize& resize = thread(note.thread).resize;
  if (!resize.former) return;
  const Former former = *resize.former;
  leave_all_operators();
  if (note.key && category_of(note.key)) set_bytes(note.key, note.bytes);
  else if (note.key) label(note.key, note.bytes, former.device, former.category);
  sample(note.has(kInBackward));
  if (note.bytes == 0) emptied_[resize.storage] = former;
}

}  // namespace tidemark::attribution
