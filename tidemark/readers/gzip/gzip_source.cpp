// Unpacks with zlib.
#include "tidemark/readers/gzip/gzip_source.h"

#include <zlib.h>

#include <algorithm>
#include <new>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

constexpr std::size_t kPackedBytes = 256 << 10;
constexpr std::size_t kMostAtOnce = 1 << 30;  // zlib counts in 32 bits
constexpr int kGzipOnly = 15 + 16;

[[noreturn]] void refuse(ErrorCode code, const char* why, std::uint64_t offset) {
  throw Error(code, why, "packed byte " + std::to_string(offset),
              "copy the file again; --salvage reads what comes before");
}

}  // namespace

struct GzipSource::Inflater {
  z_stream stream{};

  Inflater() {
    if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
};

GzipSource::GzipSource(ByteSource& packed)
    : packed_(packed), buffer_(kPackedBytes), inflater_(std::make_unique<Inflater>()) {}

GzipSource::~GzipSource() = default;

bool GzipSource::refill() {
  z_stream& stream = inflater_->stream;
  if (stream.avail_in > 0) return true;
  const std::size_t got = packed_.read(buffer_);
  taken_ += got;
  stream.next_in = reinterpret_cast<Bytef*>(buffer_.data());
  stream.avail_in = static_cast<uInt>(got);
  return got > 0;
}

// What follows the last member is padding, as gzip itself takes it.
void GzipSource::begin_next_member() {
  constexpr Bytef kMagic = 0x1f;
  is_over_ = !refill() || *inflater_->stream.next_in != kMagic;
  if (!is_over_) inflateReset(&inflater_->stream);
}

std::size_t GzipSource::read(std::span<std::byte> into) {
  z_stream& stream = inflater_->stream;
  std::size_t done = 0;
  while (done < into.size() && !is_over_) {
    const bool has_more = refill();
    if (!has_more && done > 0) return done;  // the next call tells what is wrong
    if (!has_more) refuse(ErrorCode::Truncated, "the gzip file ends too early", taken_);
    const std::size_t wanted = std::min(into.size() - done, kMostAtOnce);
    stream.next_out = reinterpret_cast<Bytef*>(into.data() + done);
    stream.avail_out = static_cast<uInt>(wanted);
    const int result = inflate(&stream, Z_NO_FLUSH);
    done += wanted - stream.avail_out;
    if (result == Z_STREAM_END) begin_next_member();
    else if (result != Z_OK && result != Z_BUF_ERROR) {
      if (done > 0) return done;
      refuse(ErrorCode::BadFormat, "the gzip file is damaged", taken_ - stream.avail_in);
    }
  }
  return done;
}

std::uint64_t GzipSource::remaining() const {
  if (is_over_) return 0;
  return std::max<std::uint64_t>(1, packed_.remaining() + inflater_->stream.avail_in);
}

}  // namespace tidemark
