// The numbers of the .tape file; docs/formats/tape.md says what they mean.
//
//   | header | block | block | ... | end block |
//
//   block = | 32 bytes: kind, codec, stored size, raw size, checksum | stored bytes |
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tidemark {

// Not text, and broken visibly by a transfer that translates line ends.
inline constexpr std::array<unsigned char, 8> kMagic = {0x93, 'T', 'A', 'P', 'E', '\r', '\n', 0x1a};
// No version is a single bit from another that is read, so that a flipped bit is noticed.
inline constexpr std::uint32_t kFileVersion = 4;
inline constexpr std::uint32_t kFormerFileVersion = 2;  // still read
inline constexpr std::size_t kFileHeaderBytes = 16;     // magic, version, reserved
inline constexpr std::size_t kBlockHeaderBytes = 32;

// A block of events has at most this many; a compressed block is never larger than the second.
inline constexpr std::size_t kBlockEvents = 65'536;
inline constexpr std::uint64_t kMaxCompressedRawBytes = 16u << 20;

// A storage's number is below its event's number plus this. Higher ones exist only in damaged
// files, and tables of storages would grow with them.
inline constexpr std::size_t kStoragesAhead = 2 * kBlockEvents;

enum class BlockKind : std::uint32_t { Tables = 1, Events = 2, Diagnostics = 3, End = 4 };

struct BlockHeader {
  BlockKind kind;
  std::uint32_t codec;
  std::uint64_t stored_bytes, raw_bytes;
  std::uint64_t checksum;  // of the four numbers above and the stored bytes
};

}  // namespace tidemark
