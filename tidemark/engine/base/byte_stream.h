// Where bytes come from and go to: files and memory behind two small interfaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills as much of `into` as there are bytes; fewer only at the end. Bytes that are there and
  // cannot be read are no end: that throws Error(Unreadable).
  virtual std::size_t read(std::span<std::byte> into) = 0;
  // How many bytes are left to read.
  virtual std::uint64_t remaining() const = 0;
};

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  // Hands everything written so far to the system, so that a killed process loses none of it.
  virtual void flush() = 0;
};

class FileSource final : public ByteSource {
 public:
  // Throws Error for what is missing, a directory, or unreadable.
  explicit FileSource(const std::string& path);
  std::size_t read(std::span<std::byte> into) override;
  std::uint64_t remaining() const override { return remaining_; }

 private:
  void expect_empty();
  std::size_t read_some(std::span<std::byte> into);

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string path_;
  std::uint64_t remaining_ = 0;
};

class FileSink final : public ByteSink {
 public:
  explicit FileSink(const std::string& path);
  void write(std::span<const std::byte> bytes) override;
  void flush() override;

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string path_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  explicit MemorySource(std::string_view text) : bytes_(std::as_bytes(std::span(text))) {}
  std::size_t read(std::span<std::byte> into) override;
  std::uint64_t remaining() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

class MemorySink final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override;
  void flush() override {}
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Reads another source and tells a listener how far it has come, for progress lines.
class WatchedSource final : public ByteSource {
 public:
  using Listener = void (*)(std::uint64_t done, std::uint64_t total, void* context);
  WatchedSource(ByteSource& inner, Listener listener, void* context);
  std::size_t read(std::span<std::byte> into) override;
  std::uint64_t remaining() const override { return inner_.remaining(); }

 private:
  ByteSource& inner_;
  Listener listener_;
  void* context_;
  std::uint64_t total_;
};

}  // namespace tidemark
