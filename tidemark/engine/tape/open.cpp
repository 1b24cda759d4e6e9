// Looks at the first byte and calls the reader for it.
#include "tidemark/engine/tape/open.h"

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/file_reader.h"
#include "tidemark/engine/tape/text_reader.h"

namespace tidemark {
namespace {

// Gives one byte back before the rest of another source.
class Rewound final : public ByteSource {
 public:
  Rewound(std::byte first, ByteSource& rest) : first_(first), rest_(rest) {}
  std::size_t read(std::span<std::byte> into) override {
    if (!waiting_ || into.empty()) return rest_.read(into);
    waiting_ = false;
    into[0] = first_;
    return 1 + rest_.read(into.subspan(1));
  }
  std::uint64_t remaining() const override { return rest_.remaining() + (waiting_ ? 1 : 0); }

 private:
  std::byte first_;
  bool waiting_ = true;
  ByteSource& rest_;
};

std::string read_all(ByteSource& source) {
  std::string text(source.remaining(), '\0');
  text.resize(source.read(std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace

Tape read_tape(ByteSource& source, const std::string& name, const OpenOptions& options) {
  if (options.on_progress) {
    WatchedSource watched(source, options.on_progress, options.progress_context);
    OpenOptions rest = options;
    rest.on_progress = nullptr;
    return read_tape(watched, name, rest);
  }
  std::byte first{};
  if (source.read(std::span(&first, 1)) == 0)
    throw Error(ErrorCode::Truncated, "the file is empty", name,
                "was the run that should have written it stopped too early?");
  Rewound whole(first, source);
  if (first == std::byte{kMagic[0]}) return read_tape_file(whole, name, options.codec);
  return read_tape_text(read_all(whole), name);
}

Tape open_tape(const std::string& path, const OpenOptions& options) {
  FileSource source(path);
  return read_tape(source, path, options);
}

}  // namespace tidemark
