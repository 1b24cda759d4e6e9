// Bytes packed with gzip, unpacked as they are read; several members after each other are one.
#pragma once

#include <memory>
#include <vector>

#include "tidemark/engine/base/byte_stream.h"

namespace tidemark {

class GzipSource final : public ByteSource {
 public:
  // `packed` must outlive it.
  explicit GzipSource(ByteSource& packed);
  ~GzipSource() override;

  // Throws Error(BadFormat) for damage and Error(Truncated) where the end is missing, with the
  // place in the packed bytes; what was unpacked before has been handed out by then.
  std::size_t read(std::span<std::byte> into) override;
  // Nobody knows how much it will be: the packed bytes that are left, and at least 1 before the
  // end.
  std::uint64_t remaining() const override;

 private:
  struct Inflater;
  bool refill();
  void begin_next_member();

  ByteSource& packed_;
  std::uint64_t taken_ = 0;  // packed bytes read so far
  std::vector<std::byte> buffer_;
  std::unique_ptr<Inflater> inflater_;
  bool is_over_ = false;
};

}  // namespace tidemark
