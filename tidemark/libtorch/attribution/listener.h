// Who wants to hear of every storage as attribution understands it: the writer of a tape.
#pragma once

#include <cstdint>

#include "tidemark/libtorch/attribution/note.h"
#include "tidemark/libtorch/attribution/row.h"

namespace tidemark::attribution {

using StorageNumber = std::uint32_t;  // used again after the storage's death

class Listener {
 public:
  virtual ~Listener() = default;
  // A storage is allocated; what it is will be known when its operator ends.
  virtual void allocated(StorageNumber storage, const Note& note, Phase phase) = 0;
  virtual void settled(StorageNumber storage, Category category) = 0;
  // Both at once.
  virtual void born(StorageNumber storage, const Note& note, Category category, Phase phase) = 0;
  // A storage that existed before is made known.
  virtual void adopted(StorageNumber storage, std::uint8_t device, std::int64_t bytes,
                       Category category) = 0;
  // It may be what it was: then only who owns it is news.
  virtual void relabelled(StorageNumber storage, Category category) = 0;
  // The allocator has given it a block of so many bytes.
  virtual void blocked(StorageNumber storage, std::int64_t bytes) = 0;
  virtual void resized(StorageNumber storage, std::int64_t bytes) = 0;
  virtual void freed(StorageNumber storage, std::int64_t time_ns) = 0;
};

}  // namespace tidemark::attribution
