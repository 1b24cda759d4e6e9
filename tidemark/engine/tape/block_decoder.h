// What the blocks of a .tape file say, one after the other: whole, and within their tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/engine/base/checksum.h"
#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/tape/codec.h"
#include "tidemark/engine/tape/columns.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/tables.h"

namespace tidemark {

// A block as it was read: nobody has looked into it yet.
struct FileBlock {
  std::uint64_t at = 0;  // in the file
  BlockHeader header{};
  Checksum sum;                   // of the header's numbers
  std::vector<std::byte> stored;  // empty for events in no compression: they are in their rows
  EventRows rows;                 // for events: where they are, or shall be
  std::size_t first_event = 0;
};

class BlockDecoder {
 public:
  BlockDecoder(const std::string& name, const Codec* codec) : name_(name), codec_(codec) {}

  // Throws Error for damage; then what came before is good, and nothing more may be decoded.
  void decode(FileBlock& block);

  Tables& tables() { return tables_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  std::size_t good_events() const { return good_events_; }
  std::uint64_t at() const { return at_; }  // of the last block, which may be the damaged one

 private:
  std::vector<std::byte> unpack(FileBlock& block) const;
  void decode_events(FileBlock& block);
  void end(const std::vector<std::byte>& raw);

  const std::string& name_;
  const Codec* codec_;
  Tables tables_;
  Diagnostics diagnostics_;
  std::size_t good_events_ = 0;
  std::uint64_t at_ = kFileHeaderBytes;
};

// How many events such a block has; 0 where that cannot be.
std::size_t event_count(const BlockHeader& header);

}  // namespace tidemark
