// Writes the binary .tape file, block by block, as events come.
#pragma once

#include <cstddef>
#include <span>

#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/engine/tape/codec.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// How much of each table is already in the file.
struct TablesWritten {
  std::size_t strings = 0, devices = 0, streams = 0, scopes = 0, stacks = 0, calls = 0,
              meta_changes = 0;
  bool operator==(const TablesWritten&) const = default;
};

class TapeWriter {
 public:
  // Writes the file's header at once. Without a codec blocks are stored as they are.
  explicit TapeWriter(ByteSink& sink, const Codec* codec = nullptr);

  // Appends `count` events from row `first`, preceded by the table rows they may need.
  void write(const Tables& tables, const EventColumns& events, std::size_t first,
             std::size_t count);
  void flush() { sink_.flush(); }
  void finish(const Tables& tables, const Diagnostics& diagnostics);

 private:
  void write_new_rows(const Tables& tables);
  void write_block(BlockKind kind, std::span<const std::byte> raw);

  ByteSink& sink_;
  const Codec* codec_;
  TablesWritten written_;
  std::uint64_t events_ = 0;
};

// The whole tape at once.
void write_tape(const Tape& tape, ByteSink& sink, const Codec* codec = nullptr);
// The same with other diagnostics than the tape has by itself.
void write_tape(const Tape& tape, const Diagnostics& diagnostics, ByteSink& sink,
                const Codec* codec = nullptr);

}  // namespace tidemark
